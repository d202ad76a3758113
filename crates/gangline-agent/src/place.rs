//! The place of a line, as a key that all lines of the place share: a channel, or a person's
//! private conversation. An account identifies a conversation, a nick does not.

use gangline_core::{Principal, Target, name::fold};
use gangline_store::MessageRow;

/// The beginning of the outbox keys of approvals' announcements.
pub(crate) const ANNOUNCES: &str = "ap-";

/// Replaces private text in an alert, since others read alerts too.
pub(crate) const IN_PRIVATE: &str = "(asked in private)";

/// Returns whether only one person reads what goes there.
pub(crate) fn is_private(target: &str) -> bool {
    matches!(target.parse(), Ok(Target::Nick(_)))
}

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

/// Returns whether the place is the private conversation with an account; a person who has none is
/// known by the nick.
pub(crate) fn is_private_with(place: &str, account: &str) -> bool {
    let bare = |text: &str| fold(text.trim_start_matches('~'));
    place.strip_prefix('=').is_some_and(|with| bare(with) == bare(account))
}

/// Returns the place in which a message was said.
pub(crate) fn of_row(row: &MessageRow) -> String {
    match row.target.parse() {
        Ok(Target::Channel(channel)) => channel.folded().to_owned(),
        Ok(Target::Nick(_)) | Err(_) => private(&row.principal.account),
    }
}
