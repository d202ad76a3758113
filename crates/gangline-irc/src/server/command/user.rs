//! USER.

use crate::server::{call::Call, state::State};
use crate::wire::text;

/// The longest real name, in bytes.
pub(super) const REALNAME_MAX: usize = 150;
const USER_MAX: usize = 10;

pub(super) fn run(state: &mut State, call: &Call) {
    let (Some(user), Some(realname)) = (call.word(0), call.word(3)) else {
        return super::need_more(state, call);
    };
    let legal = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    let user: String = user.chars().filter(legal).take(USER_MAX).collect();
    let user = if user.is_empty() { "unknown".to_owned() } else { user };
    let realname = text::cut(&text::sanitize(realname), REALNAME_MAX).to_owned();
    let Some(client) = state.client_mut(call.id) else { return };
    // Nobody has asked an ident server: the tilde says so.
    client.user = Some(format!("~{user}"));
    client.realname = realname;
    state.try_register(call.id);
}
