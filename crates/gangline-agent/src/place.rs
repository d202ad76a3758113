//! The place of a line, as a key that all lines of the place share: a channel, or a person's
//! private conversation. An account identifies a conversation, a nick does not.

use gangline_core::{Principal, Target, name::fold};
use gangline_store::MessageRow;

/// The beginning of the outbox keys of approvals' announcements.
pub(crate) const ANNOUNCES: &str = "ap-";

/// Returns the place of a line to this target by this person.
pub(crate) fn key(target: &Target, who: &Principal) -> String {
    match target {
        Target::Channel(channel) => channel.folded().to_owned(),
        Target::Nick(_) => private(&who.account),
    }
}

/// Returns the place of the private conversation with an account.
pub(crate) fn private(account: &str) -> String {
    format!("={}", fold(account))
}

/// Returns the place in which a message was said.
pub(crate) fn of_row(row: &MessageRow) -> String {
    match row.target.parse() {
        Ok(Target::Channel(channel)) => channel.folded().to_owned(),
        Ok(Target::Nick(_)) | Err(_) => private(&row.principal.account),
    }
}
