//! The record of events.

use gangline_core::{AgentName, Epoch, TurnId};
use gangline_store::{Cursor, EventQuery, NewEvent, StoreError};

use crate::support::*;

fn event(agent: &AgentName, kind: &str, turn: Option<TurnId>) -> NewEvent {
    let (agent, kind) = (agent.clone(), kind.to_owned());
    NewEvent { agent, epoch: None, turn, kind, payload: text("{\"n\":1}") }
}

pub(crate) async fn events_keep_their_order_and_page_by_cursor(fixture: &Fixture) {
    let store = fixture.open().await;
    let all: Vec<_> = (0..7).map(|n| event(&ada(), &format!("kind{n}"), None)).collect();
    let last = store.append(all).await.unwrap();
    assert_eq!(store.append(Vec::new()).await.unwrap(), 0);
    store.append(vec![event(&bob(), "his", None)]).await.unwrap();
    let mut kinds = Vec::new();
    let mut after = None;
    loop {
        let query = EventQuery { agent: Some(ada()), after, limit: 3, ..EventQuery::default() };
        let page = store.events(query).await.unwrap();
        assert!(page.events.len() <= 3);
        let cursor: Cursor = page.cursor.as_str().parse().unwrap();
        if page.events.is_empty() {
            assert_eq!(cursor.as_str(), format!("e{last}"));
            break;
        }
        after = Some(cursor);
        kinds.extend(page.events.into_iter().map(|event| (event.v, event.kind)));
    }
    let expected: Vec<_> = (0..7).map(|n| (1, format!("kind{n}"))).collect();
    assert_eq!(kinds, expected);
    assert_eq!(store.events(EventQuery::default()).await.unwrap().events.len(), 8);
    assert!("e-1".parse::<Cursor>().is_err() && "7".parse::<Cursor>().is_err());
}

pub(crate) async fn the_newest_events_come_oldest_first(fixture: &Fixture) {
    let store = fixture.open().await;
    let all: Vec<_> = (0..5).map(|n| event(&ada(), &format!("kind{n}"), None)).collect();
    store.append(all).await.unwrap();
    let query = EventQuery { newest: true, limit: 2, ..EventQuery::default() };
    let page = store.events(query).await.unwrap();
    let kinds: Vec<_> = page.events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["kind3", "kind4"]);
    let query = EventQuery { after: Some(page.cursor), ..EventQuery::default() };
    assert_eq!(store.events(query).await.unwrap().events, []);
    let before = Some(page.events[0].cursor());
    let query = EventQuery { before, newest: true, limit: 2, ..EventQuery::default() };
    let page = store.events(query).await.unwrap();
    let kinds: Vec<_> = page.events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["kind1", "kind2"]);
}

pub(crate) async fn a_turn_has_its_own_events(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let (one, two) = (turn(epoch, 1), turn(epoch, 2));
    let both = vec![event(&ada(), "a", Some(one)), event(&ada(), "b", Some(two))];
    store.append(both).await.unwrap();
    let query = EventQuery { agent: Some(ada()), turn: Some(two), ..EventQuery::default() };
    let page = store.events(query).await.unwrap();
    assert_eq!((page.events.len(), page.events[0].turn), (1, Some(two)));
    assert_eq!(page.events[0].epoch, Some(epoch));
    let nameless = EventQuery { turn: Some(two), ..EventQuery::default() };
    let refused = store.events(nameless).await;
    assert!(matches!(refused, Err(StoreError::Invalid(_))), "{refused:?}");
}

pub(crate) async fn events_are_recorded_together_or_not_at_all(fixture: &Fixture) {
    let store = fixture.open().await;
    let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let stale = NewEvent { epoch: Some(Epoch(epoch.0 - 1)), ..event(&ada(), "stale", None) };
    let refused = store.append(vec![event(&ada(), "fine", None), stale]).await;
    assert!(matches!(refused, Err(StoreError::Fenced { .. })), "{refused:?}");
    assert_eq!(store.events(EventQuery::default()).await.unwrap().events, []);
}
