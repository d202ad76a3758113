//! Letters: what agents send to the owners.

use gangline_core::Origin;
use gangline_store::{LetterError, LetterFilter, LetterState};

use crate::support::*;

/// R2-19: `send` to the operator is a row that waits until somebody has dealt with it.
pub(crate) async fn a_letter_is_sent_once_read_and_settled_once(fixture: &Fixture) {
    let store = fixture.open().await;
    let first = store.send_letter(letter(&ada(), "a")).await.unwrap();
    assert_eq!(store.send_letter(letter(&ada(), "a")).await.unwrap(), first);
    let second = store.send_letter(letter(&bob(), "a")).await.unwrap();
    let third = store.send_letter(letter(&ada(), "b")).await.unwrap();
    let list = async |filter: LetterFilter| -> Vec<(i64, LetterState)> {
        store.letters(filter, 9).await.unwrap().iter().map(|row| (row.id, row.state)).collect()
    };
    let every = LetterFilter::default();
    let new = LetterState::New;
    assert_eq!(list(every.clone()).await, [(first, new), (second, new), (third, new)]);
    store.read_letters(vec![first, 99]).await.unwrap();
    let unread = LetterFilter { unread: true, ..every.clone() };
    assert_eq!(list(unread).await, [(second, new), (third, new)]);
    let of_ada = LetterFilter { agent: Some(ada()), ..every.clone() };
    assert_eq!(list(of_ada).await, [(first, LetterState::Read), (third, new)]);
    let answer = gangline_store::NewMessage { origin: Origin::Cli, ..keyed(&ada(), "letter/1") };
    let (was, message) = store.settle_letter(first, "otto".to_owned(), Some(answer)).await.unwrap();
    assert_eq!((was.state, was.body.as_str()), (LetterState::Read, "the build is red"));
    assert_eq!(store.message(message.unwrap()).await.unwrap().unwrap().agent, ada());
    let row = store.letter(first).await.unwrap().unwrap();
    assert_eq!((row.state, row.answer), (LetterState::Answered, message));
    assert_eq!(row.settled_by.as_deref(), Some("otto"));
    let (_, none) = store.settle_letter(second, "otto".to_owned(), None).await.unwrap();
    assert_eq!(none, None);
    let again = store.settle_letter(second, "eve".to_owned(), None).await.unwrap_err();
    assert_eq!(again.to_string(), format!("letter {second} is done already"));
    let unknown = store.settle_letter(99, "eve".to_owned(), None).await.unwrap_err();
    assert!(matches!(unknown, LetterError::Unknown(99)));
    assert_eq!(list(every.clone()).await, [(third, new)]);
    assert_eq!(list(LetterFilter { settled: true, ..every }).await.len(), 3);
}
