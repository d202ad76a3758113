//! The record of events.

use gangline_broker::{BrokerError, Cursor, EventQuery, NewEvent};
use gangline_core::{AgentName, Epoch, TurnId};

use crate::support::*;

fn event(agent: &AgentName, kind: &str, turn: Option<TurnId>) -> NewEvent {
    let (agent, kind) = (agent.clone(), kind.to_owned());
    NewEvent { agent, epoch: None, turn, kind, payload: text("{\"n\":1}") }
}

pub(crate) async fn events_keep_their_order_and_page_by_cursor(store: &Fixture) {
    let broker = store.open().await;
    let all: Vec<_> = (0..7).map(|n| event(&ada(), &format!("kind{n}"), None)).collect();
    let last = broker.append(all).await.unwrap();
    assert_eq!(broker.append(Vec::new()).await.unwrap(), 0);
    broker.append(vec![event(&bob(), "his", None)]).await.unwrap();
    let mut kinds = Vec::new();
    let mut after = None;
    loop {
        let query = EventQuery { agent: Some(ada()), after, limit: 3, ..EventQuery::default() };
        let page = broker.events(query).await.unwrap();
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
    assert_eq!(broker.events(EventQuery::default()).await.unwrap().events.len(), 8);
    assert!("e-1".parse::<Cursor>().is_err() && "7".parse::<Cursor>().is_err());
}

pub(crate) async fn the_newest_events_come_oldest_first(store: &Fixture) {
    let broker = store.open().await;
    let all: Vec<_> = (0..5).map(|n| event(&ada(), &format!("kind{n}"), None)).collect();
    broker.append(all).await.unwrap();
    let query = EventQuery { newest: true, limit: 2, ..EventQuery::default() };
    let page = broker.events(query).await.unwrap();
    let kinds: Vec<_> = page.events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["kind3", "kind4"]);
    let query = EventQuery { after: Some(page.cursor), ..EventQuery::default() };
    assert_eq!(broker.events(query).await.unwrap().events, []);
    let before = Some(page.events[0].cursor());
    let query = EventQuery { before, newest: true, limit: 2, ..EventQuery::default() };
    let page = broker.events(query).await.unwrap();
    let kinds: Vec<_> = page.events.iter().map(|event| event.kind.as_str()).collect();
    assert_eq!(kinds, ["kind1", "kind2"]);
}

pub(crate) async fn a_turn_has_its_own_events(store: &Fixture) {
    let broker = store.open().await;
    let epoch = broker.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let (one, two) = (turn(epoch, 1), turn(epoch, 2));
    let both = vec![event(&ada(), "a", Some(one)), event(&ada(), "b", Some(two))];
    broker.append(both).await.unwrap();
    let query = EventQuery { agent: Some(ada()), turn: Some(two), ..EventQuery::default() };
    let page = broker.events(query).await.unwrap();
    assert_eq!((page.events.len(), page.events[0].turn), (1, Some(two)));
    assert_eq!(page.events[0].epoch, Some(epoch));
    let nameless = EventQuery { turn: Some(two), ..EventQuery::default() };
    let refused = broker.events(nameless).await;
    assert!(matches!(refused, Err(BrokerError::Invalid(_))), "{refused:?}");
}

pub(crate) async fn events_are_recorded_together_or_not_at_all(store: &Fixture) {
    let broker = store.open().await;
    let epoch = broker.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
    let stale = NewEvent { epoch: Some(Epoch(epoch.0 - 1)), ..event(&ada(), "stale", None) };
    let refused = broker.append(vec![event(&ada(), "fine", None), stale]).await;
    assert!(matches!(refused, Err(BrokerError::Fenced { .. })), "{refused:?}");
    assert_eq!(broker.events(EventQuery::default()).await.unwrap().events, []);
}
