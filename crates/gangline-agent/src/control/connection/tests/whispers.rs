//! Whispers before a response: for the agent alone, and delivered once that is written.

use gangline_core::{
    Redacted, TurnId,
    whisper::{WhisperKind, WhisperRoad, WhisperSource, pool},
};

use super::*;

const TURN: TurnId = TurnId { epoch: Epoch(1), number: 1 };

fn whisper(id: i64, text: &str) -> pool::Whisper {
    let (kind, source) = (WhisperKind::Correction, WhisperSource::Supervisor);
    let text = Redacted::from_store(text.to_owned());
    pool::Whisper { id, kind, source, text, turn: None }
}

/// R0-29, R0-51, R1-15, R1-17, R1-33: they come as frames before the response to the agent, several
/// together, and to nobody else; they have arrived when the response is written.
#[tokio::test]
async fn whispers_come_before_the_response_to_the_agent_alone() {
    let mut fixture = Fixture::open().await;
    fixture.whispers.send_replace(2);
    let (mut client, _end) = fixture.connect();
    let others = [
        // The owner, somebody without a token, and a program that waits for one short line.
        r#""token":"the owner","type":"irc_channels""#,
        r#""type":"irc_channels""#,
        r#""token":"the agent","type":"status""#,
    ];
    for asked in others {
        let answer = client.ask(asked).await;
        assert!(answer.starts_with(r#""ok":true"#), "{asked}: {answer}");
    }
    let asked = r#"{"token":"the agent","type":"irc_channels","id":"7"}"#;
    client.send(&format!("{asked}\n")).await;
    let Some(Incoming::TakeWhispers(taking)) = fixture.agent_loop.recv().await else { panic!() };
    assert_eq!(taking.road, WhisperRoad::Socket);
    let mut pool = pool::Pool::default();
    pool.learn(vec![whisper(1, "ask #help"), whisper(2, "you repeat yourself")]);
    let (batch, whispers) = pool.take().unwrap();
    let texts = whispers.iter().map(|it| (it.kind, it.text.to_string())).collect();
    let mut in_transit = InTransit::default();
    let _ = taking.reply.send(in_transit.begin(batch, (taking.road, TURN), texts));
    let frame =
        |text| format!(r#"{{"type":"whisper","whisper_type":"CORRECTION","message":"{text}"}}"#);
    assert_eq!(client.line().await.trim_end(), frame("ask #help"));
    assert_eq!(client.line().await.trim_end(), frame("you repeat yourself"));
    assert!(client.line().await.starts_with(r#"{"type":"response","id":"7","ok":true"#));
    let (transit, arrived) = in_transit.next().await;
    assert_eq!((transit.batch, arrived), (batch, true));
}

/// What was taken for a client that is gone waits again.
#[tokio::test]
async fn a_response_that_nobody_reads_delivers_nothing() {
    let mut fixture = Fixture::open().await;
    fixture.whispers.send_replace(1);
    let (mut client, end) = fixture.connect();
    client.send("{\"token\":\"the agent\",\"type\":\"irc_channels\",\"id\":\"7\"}\n").await;
    let Some(Incoming::TakeWhispers(taking)) = fixture.agent_loop.recv().await else { panic!() };
    drop(client);
    end.cancel();
    let mut pool = pool::Pool::default();
    pool.learn(vec![whisper(1, "ask #help")]);
    let (batch, _) = pool.take().unwrap();
    let texts = vec![(WhisperKind::Correction, "ask #help".to_owned())];
    let mut in_transit = InTransit::default();
    let _ = taking.reply.send(in_transit.begin(batch, (taking.road, TURN), texts));
    assert!(!in_transit.next().await.1);
}
