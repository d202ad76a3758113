//! The owner as a principal, and what is written in the owner's name.

use gangline_core::{MessageState, Origin, Principal, Redactor, Tier};
use gangline_hub::credentials::OWNER;
use gangline_store::{LetterRow, NewMessage};

/// Returns the person in charge as a principal.
pub(crate) fn principal() -> Principal {
    Principal { account: OWNER.to_owned(), tier: Tier::Owner }
}

/// Returns the message by which an agent hears of the answer to its letter, and who gave it.
pub(crate) fn answer_to(letter: &LetterRow, (sender, text): (&str, &str)) -> NewMessage {
    let body = format!("{text}\n(the answer to your letter {}: {})", letter.id, letter.body);
    NewMessage {
        agent: letter.agent.clone(),
        network_id: "local".to_owned(),
        intake_key: Some(format!("letter/{}", letter.id)),
        origin: Origin::Cli,
        sender: sender.to_owned(),
        principal: principal(),
        target: String::new(),
        body: Redactor::new([]).redact(&body),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}
