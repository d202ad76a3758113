//! Tokens of programs outside.

use gangline_store::TokenScope;

use crate::support::*;

/// A token is known by its hash only; its use is written once a minute, and a revoked one says so.
pub(crate) async fn a_token_is_found_by_its_hash_used_and_revoked(fixture: &Fixture) {
    let store = fixture.open().await;
    let made = store.add_token(token(&ada(), "aa")).await.unwrap();
    let other = store.add_token(token(&bob(), "bb")).await.unwrap();
    assert_eq!((made.scope, made.label.as_str()), (TokenScope::Wake, "ci"));
    assert_eq!((made.made_by.clone(), made.used_at, made.revoked_at), (owner(), None, None));
    assert!(store.add_token(token(&bob(), "aa")).await.is_err(), "one token, one row");
    assert_eq!(store.token("aa".to_owned()).await.unwrap(), Some(made.clone()));
    assert_eq!(store.token("cc".to_owned()).await.unwrap(), None);

    store.use_token(made.id).await.unwrap();
    let first = store.token("aa".to_owned()).await.unwrap().unwrap().used_at;
    assert!(first.is_some());
    store.use_token(made.id).await.unwrap();
    assert_eq!(store.token("aa".to_owned()).await.unwrap().unwrap().used_at, first);

    assert_eq!(store.revoke_token(99).await.unwrap(), None);
    let was = store.revoke_token(made.id).await.unwrap().unwrap();
    assert_eq!(was.revoked_at, None);
    let at = store.token("aa".to_owned()).await.unwrap().unwrap().revoked_at;
    assert!(at.is_some());
    assert_eq!(store.revoke_token(made.id).await.unwrap().unwrap().revoked_at, at);
    let ids: Vec<i64> = store.tokens().await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!(ids, [made.id, other.id]);
}
