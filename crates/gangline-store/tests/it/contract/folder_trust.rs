//! Folders that an owner trusts.

use gangline_store::TrustWord;

use crate::support::*;

/// Each word is a row of its own; what holds is the newest of this agent and this folder.
pub(crate) async fn the_newest_word_about_a_folder_holds(fixture: &Fixture) {
    let store = fixture.open().await;
    assert_eq!(store.folder_trust(&ada(), "/proj").await.unwrap(), None);
    let allowed = store.trust_folder(folder_word("aa", TrustWord::Allowed)).await.unwrap();
    assert_eq!((allowed.allows(), allowed.by.as_str()), (Some("aa"), "boss"));
    assert_eq!(store.folder_trust(&ada(), "/proj").await.unwrap(), Some(allowed));
    assert_eq!(store.folder_trust(&bob(), "/proj").await.unwrap(), None);
    assert_eq!(store.folder_trust(&ada(), "/other").await.unwrap(), None);
    store.trust_folder(folder_word("bb", TrustWord::Allowed)).await.unwrap();
    let row = store.folder_trust(&ada(), "/proj").await.unwrap().unwrap();
    assert_eq!(row.allows(), Some("bb"));
    store.trust_folder(folder_word("bb", TrustWord::Revoked)).await.unwrap();
    let row = store.folder_trust(&ada(), "/proj").await.unwrap().unwrap();
    assert_eq!((row.allows(), row.hash.as_str()), (None, "bb"));
}
