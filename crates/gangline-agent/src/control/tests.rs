use std::collections::HashMap;

use tokio::{io::AsyncReadExt, net::UnixStream};

use super::*;

fn entry(busy: bool, idle_since: u64) -> Entry {
    let activity = Activity { busy: AtomicBool::new(busy), idle_since: AtomicU64::new(idle_since) };
    Entry { activity: Arc::new(activity), end: CancellationToken::new() }
}

/// The bound on connections: who has asked nothing for longest gives way; where all are at work the
/// newcomer is told so.
#[tokio::test]
async fn a_full_table_makes_room_by_ending_who_is_idle_longest() {
    let (mut ours, newcomer) = UnixStream::pair().unwrap();
    let mut table = HashMap::new();
    for number in 0..CONNECTIONS_MAX as u64 {
        assert!(has_place(&mut table, &newcomer));
        table.insert(format!("connection {number}"), entry(number % 2 == 0, 1000 - number));
    }
    let last_idle = format!("connection {}", CONNECTIONS_MAX - 1);
    let end = table[&last_idle].end.clone();
    assert!(has_place(&mut table, &newcomer));
    assert!(end.is_cancelled() && !table.contains_key(&last_idle));
    assert_eq!(table.len(), CONNECTIONS_MAX - 1);

    table.insert("new".to_owned(), entry(true, 0));
    for entry in table.values() {
        entry.activity.busy.store(true, Ordering::Relaxed);
    }
    assert!(!has_place(&mut table, &newcomer));
    drop(newcomer);
    let mut told = String::new();
    ours.read_to_string(&mut told).await.unwrap();
    let line = "{\"type\":\"response\",\"id\":null,\"ok\":false,\"error\":\"256 connections are busy \
                already; try again\"}\n";
    assert_eq!(told, line);
    assert!(table.values().all(|entry| !entry.end.is_cancelled()));
}
