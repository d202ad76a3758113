//! A session for [`crate::fuzzing`].

use std::path::Path;

use super::{
    permit::Gate,
    thread::Thread,
    turns::{Credentials, Setup, Turns},
};
use crate::{StartOptions, folder::projects::Trust, program::protocol::Protocol};

/// A session that was just started.
pub(crate) fn session() -> impl Protocol {
    let options = StartOptions::within(Path::new("/nowhere"));
    Turns::new(Setup {
        thread: Thread::new(&options, &[], Trust::None),
        resume: None,
        model: None,
        gate: Gate::of(&options),
        tools: vec!["send"],
        credentials: Credentials::OfTheOptions,
        login: "log in".to_owned(),
    })
}
