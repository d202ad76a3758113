use super::SendKey;
use crate::id::{Epoch, TurnId};

const TURN: TurnId = TurnId { epoch: Epoch(3), number: 7 };

/// Rows of older programs have these texts, and a repeated call must find them.
#[test]
fn the_stored_texts_of_keys_stay_as_they_are() {
    let hash = "ba7816bf8f01cfea";
    assert_eq!(SendKey::of_call(Some(TURN), "abc").as_str(), format!("t3.7-{hash}"));
    assert_eq!(SendKey::of_call(None, "abc").as_str(), format!("ipc-{hash}"));
    let answer = SendKey::from("a-m42-5f".to_owned());
    assert_eq!(SendKey::of_undelivered(&answer).as_str(), "u-a-m42-5f");
}

#[test]
fn only_a_call_in_a_turn_has_a_turn() {
    let said = SendKey::of_call(Some(TURN), "abc");
    assert_eq!(said.turn(), Some(TURN));
    let undelivered = SendKey::of_undelivered(&said);
    assert_eq!((undelivered.turn(), undelivered.is_of_undelivered()), (None, true));
    for text in ["ipc-ba78", "a-m42-5f", "w-m42-5f-rate", "p-t3.7-1-0", "ap-t3.7-ba78", "t", ""] {
        let key = SendKey::from(text.to_owned());
        assert_eq!((key.turn(), key.is_of_undelivered()), (None, false), "{text}");
    }
}
