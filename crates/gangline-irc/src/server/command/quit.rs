//! QUIT.

use crate::server::{call::Call, state::State};
use crate::wire::text;

const WHY_MAX: usize = 200;

pub(super) fn run(state: &mut State, call: &Call) {
    let why = state.last_words(call.id, call.word(0)).unwrap_or("Client quit");
    let why = text::sanitize(why);
    state.doom(call.id, &format!("Quit: {}", text::cut(&why, WHY_MAX)));
}
