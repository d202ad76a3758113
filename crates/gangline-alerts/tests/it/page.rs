//! The page for users is what the program does.

use std::collections::BTreeSet;

use gangline_alerts::{MESSAGE_BYTES, MESSAGE_MAX, body::DISCORD_MAX};
use gangline_config::TargetKind;
use gangline_core::{
    alert::{AGAIN_AFTER, AGAIN_EVERY, GROUP_WINDOW, STALE_AFTER},
    hook::WebhookEvent,
};

const PAGE: &str = include_str!("../../../../docs/webhooks.md");

/// Returns the words in the first column of a table whose head begins so.
fn table(head: &str) -> Vec<(&'static str, &'static str)> {
    let rows = PAGE.lines().skip_while(|line| !line.starts_with(head)).skip(2);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(|row| {
        let mut cells = row.split('|').map(str::trim).skip(1);
        (cells.next().unwrap().trim_matches('`'), cells.next().unwrap())
    })
    .collect()
}

/// R1-39, R1-55: every event with its severity, every kind of target, and the limits.
#[test]
fn the_page_of_webhooks_is_what_the_program_does() {
    let events: BTreeSet<_> = table("| event |").into_iter().collect();
    let severity = |event: &WebhookEvent| (event.as_str(), event.severity().as_str());
    assert_eq!(events, WebhookEvent::ALL.iter().map(severity).collect());
    let kinds: BTreeSet<_> = table("| kind |").into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, TargetKind::ALL.iter().map(|kind| kind.as_str()).collect());
    let page = PAGE.split_whitespace().collect::<Vec<_>>().join(" ");
    let minutes = |at: usize| AGAIN_AFTER[at].as_secs() / 60;
    assert_eq!((GROUP_WINDOW.as_secs(), AGAIN_EVERY.as_secs()), (300, 3600));
    assert_eq!(STALE_AFTER.as_secs(), 24 * 3600);
    for part in [
        format!("up to {MESSAGE_MAX} alerts and {} bytes", thousands(MESSAGE_BYTES)),
        format!("at most {} characters", thousands(DISCORD_MAX)),
        format!("again after {} and {} minutes, then every hour", minutes(0), minutes(1)),
        "within five minutes".to_owned(),
        "could not be told for a day".to_owned(),
    ] {
        assert!(page.contains(&part), "`{part}` is not in the page");
    }
}

fn thousands(number: usize) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}
