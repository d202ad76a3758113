//! Events to those who subscribe.

use super::*;

async fn append(fixture: &Fixture, from: i64, to: i64, bytes: usize) {
    let events = (from..to).map(|number| NewEvent {
        agent: ada(),
        epoch: Some(Epoch(1)),
        turn: None,
        kind: "notice".into(),
        payload: Redactor::default()
            .redact(&format!("{{\"code\":\"n{number}\",\"text\":\"{}\"}}", "x".repeat(bytes))),
    });
    fixture.requests.speaker.store.append(events.collect()).await.unwrap();
    fixture.committed.send_modify(|count| *count += 1);
}

/// Every event behind the cursor, once and in order, over many pages, and then as they happen.
#[tokio::test]
async fn events_are_told_from_the_cursor_on_and_as_they_happen() {
    let mut fixture = Fixture::open().await;
    append(&fixture, 0, 1200, 10).await;
    let (mut client, _end) = fixture.connect();
    let told = client.ask(r#""type":"subscribe","cursor":"e0""#).await;
    assert_eq!(told, r#""ok":true,"data":{"cursor":"e0"}}"#);
    let mut next = 0;
    for number in 0..1200 {
        let line = client.line().await;
        assert!(line.starts_with("{\"type\":\"event\",\"event\":{\"v\":1,\"seq\":\"e"), "{line}");
        assert!(line.contains(&format!("\"n{number}\"")), "{number}: {line}");
        next = number + 1;
    }
    append(&fixture, next, next + 3, 10).await;
    for number in next..next + 3 {
        assert!(client.line().await.contains(&format!("\"n{number}\"")));
    }
    // Other requests are answered in between.
    assert!(client.ask("\"type\":\"hello\"").await.contains("\"ok\":true"));
    let (mut later, _end) = fixture.connect();
    assert!(later.ask("\"type\":\"subscribe\"").await.contains("\"cursor\":\"e"));
    append(&fixture, 9000, 9001, 10).await;
    assert!(later.line().await.contains("\"n9000\""), "from now on");
    assert!(client.line().await.contains("\"n9000\""));
    let (mut wrong, _end) = fixture.connect();
    let answer = wrong.ask(r#""type":"subscribe","cursor":"yesterday""#).await;
    assert!(
        answer.contains("\"ok\":false") && answer.contains("'cursor': not a cursor"),
        "{answer}"
    );
}

/// Who does not read is given up, and holds nobody else up.
#[tokio::test]
async fn a_subscriber_that_does_not_read_is_closed() {
    let mut fixture = Fixture::open().await;
    append(&fixture, 0, 1500, 1500).await;
    let (mut lazy, _end) = fixture.connect();
    lazy.send("{\"type\":\"subscribe\",\"id\":\"x\",\"cursor\":\"e0\"}\n").await;
    let (mut eager, _end) = fixture.connect();
    eager.send("{\"type\":\"subscribe\",\"id\":\"x\",\"cursor\":\"e0\"}\n").await;
    for _ in 0..=1500 {
        assert!(!eager.line().await.is_empty());
    }
    let closed = tokio::time::timeout(Duration::from_secs(60), fixture.tasks.next_end()).await;
    assert_eq!(closed.unwrap().unwrap().name, "connection");
    let mut rest = Vec::new();
    lazy.stream.read_to_end(&mut rest).await.unwrap();
    let lines = rest.iter().filter(|byte| **byte == b'\n').count();
    assert!(lines < 1000, "{lines} lines were written for somebody who read none");
    assert!(eager.ask("\"type\":\"hello\"").await.contains("\"ok\":true"));
}
