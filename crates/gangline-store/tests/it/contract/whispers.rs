//! Whispers: recorded by anybody, bounded, delivered once.

use gangline_core::{
    FindingNumber,
    whisper::{WAITING_MAX, WhisperKind, WhisperRoad, WhisperSource},
};
use gangline_store::{Delivered, Entry, EventQuery, NewWhisper, OfFinding, Store, StoreError};

use crate::support::*;

async fn undelivered(store: &Store) -> Vec<i64> {
    store.undelivered_whispers(&ada()).await.unwrap().iter().map(|row| row.id).collect()
}

/// C9: a whisper is stored until it is delivered, by one road and once; both are events.
pub(crate) async fn a_whisper_waits_until_it_is_delivered_once(fixture: &Fixture) {
    let store = fixture.open().await;
    let first = store.whisper(whisper("ask #help")).await.unwrap();
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let turn = turn(epoch, 1);
    let of_model = NewWhisper {
        kind: WhisperKind::ThinkDeeper,
        source: WhisperSource::Supervisor,
        by: None,
        finding: Some(OfFinding::Number(FindingNumber(7))),
        turn: Some(turn),
        ..whisper("think")
    };
    alone(&store, Entry::Whisper(Box::new(of_model))).await.unwrap();
    // A process that is not the daemon reads and writes too.
    let other = fixture.open().await;
    let rows = other.undelivered_whispers(&ada()).await.unwrap();
    assert_eq!((rows[0].id, rows[0].text.as_str(), rows[0].turn), (first, "ask #help", None));
    assert_eq!((rows[0].source, rows[0].by.as_deref()), (WhisperSource::Operator, Some("otto")));
    assert_eq!((rows[1].kind, rows[1].finding), (WhisperKind::ThinkDeeper, Some(FindingNumber(7))));
    assert_eq!((rows[1].turn, rows[1].delivered, rows.len()), (Some(turn), None, 2));
    assert_eq!(other.undelivered_whispers(&bob()).await.unwrap(), []);
    let told = |ids: &[i64], road| {
        Entry::WhispersDelivered(Delivered { turn: Some(turn), ..delivered(ids, road) })
    };
    alone(&store, told(&[first], WhisperRoad::Prompt)).await.unwrap();
    alone(&store, told(&[first, rows[1].id], WhisperRoad::Hook)).await.unwrap();
    assert_eq!(undelivered(&store).await, [0; 0]);
    let all = store.whispers(Some(&ada()), 9).await.unwrap();
    let roads: Vec<_> = all.iter().map(|row| row.delivered.map(|(road, _)| road)).collect();
    assert_eq!(roads, [Some(WhisperRoad::Hook), Some(WhisperRoad::Prompt)], "newest first");
    assert_eq!(all[0].delivered_in, Some(turn));
    assert_eq!(store.whispers(Some(&bob()), 9).await.unwrap(), []);
    let events = store.events(EventQuery { agent: Some(ada()), ..EventQuery::default() }).await;
    let events: Vec<String> = events.unwrap().events.iter().map(said).collect();
    assert_eq!(
        events,
        [
            r#"whisper {"by":"otto","id":1,"source":"operator","text":"ask #help","whisper_type":"CORRECTION"}"#,
            r#"whisper {"finding":7,"id":2,"source":"supervisor","text":"think","whisper_type":"THINK_DEEPER"}"#,
            r#"whisper_delivered {"ids":[1],"road":"prompt"}"#,
            r#"whisper_delivered {"ids":[2],"road":"hook"}"#,
        ]
    );
}

fn said(event: &gangline_store::Event) -> String {
    format!("{} {}", event.kind, event.payload)
}

/// An agent has at most so many whispers that wait; the daemon's own are dropped beyond it, and
/// spoil nothing beside them.
pub(crate) async fn an_agent_has_a_bounded_number_of_whispers(fixture: &Fixture) {
    let store = fixture.open().await;
    for _ in 0..WAITING_MAX {
        store.whisper(whisper("again")).await.unwrap();
    }
    let more = store.whisper(whisper("one too many")).await;
    assert!(matches!(more, Err(StoreError::Invalid(why)) if why.contains("too many whispers")));
    alone(&store, Entry::Whisper(Box::new(whisper("one too many")))).await.unwrap();
    let waiting = undelivered(&store).await;
    assert_eq!(waiting.len(), WAITING_MAX as usize);
    let other = NewWhisper { agent: bob(), ..whisper("hello") };
    store.whisper(other).await.unwrap();
    let told = Entry::WhispersDelivered(delivered(&waiting[..1], WhisperRoad::Tool));
    alone(&store, told).await.unwrap();
    store.whisper(whisper("there is room again")).await.unwrap();
    let of_rules = NewWhisper { source: WhisperSource::Rules, by: None, ..whisper("again") };
    alone(&store, Entry::Whisper(Box::new(of_rules))).await.unwrap();
    assert_eq!(undelivered(&store).await.len(), WAITING_MAX as usize, "people's are never dropped");
    assert_eq!(notices(&store).await, ["a new whisper of the rules is dropped: 16 wait already"]);
}

/// The texts of the notices about dropped whispers.
async fn notices(store: &Store) -> Vec<String> {
    let query = EventQuery { agent: Some(ada()), ..EventQuery::default() };
    let events = store.events(query).await.unwrap().events;
    let notices = events.iter().filter(|event| event.kind == "notice");
    notices
        .map(|event| {
            let payload: serde_json::Value = serde_json::from_str(event.payload.as_str()).unwrap();
            assert_eq!(payload["code"], "whisper_dropped");
            payload["text"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// The oldest whisper of the rules makes room for a new one, and that is told; a whisper is about the
/// unresolved finding of its key.
pub(crate) async fn the_oldest_whisper_of_the_rules_makes_room(fixture: &Fixture) {
    let store = fixture.open().await;
    let number = store.raise_finding(silent(&ada(), "first")).await.unwrap().number;
    for at in 0..WAITING_MAX {
        let source = match at {
            3 | 5 => WhisperSource::Rules,
            _ => WhisperSource::Operator,
        };
        store.whisper(NewWhisper { source, ..whisper("again") }).await.unwrap();
    }
    let finding = Some(OfFinding::Key("silent_turn".to_owned()));
    let new = NewWhisper { source: WhisperSource::Supervisor, finding, ..whisper("new") };
    alone(&store, Entry::Whisper(Box::new(new))).await.unwrap();
    let rows = store.undelivered_whispers(&ada()).await.unwrap();
    assert_eq!((rows.len(), rows[3].id), (WAITING_MAX as usize, 5), "the fourth is dropped");
    assert_eq!((rows[15].text.as_str(), rows[15].finding), ("new", Some(number)));
    store.whisper(whisper("a person's")).await.unwrap();
    assert!(store.whisper(whisper("one too many")).await.is_err(), "none of the rules is left");
    let one = |id| format!("whisper {id} of the rules is dropped for a new one: 16 wait already");
    assert_eq!(notices(&store).await, [one(4), one(6)]);
}
