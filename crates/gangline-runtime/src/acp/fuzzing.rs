//! A session for [`crate::fuzzing`].

use std::path::Path;

use super::{
    permit::Gate,
    recipe::{Names, PLAIN},
    session::{Late, Own, Session, Setup},
};
use crate::{StartOptions, program::protocol::Protocol};

/// A session that was just started.
pub(crate) fn session() -> impl Protocol {
    let options = StartOptions::within(Path::new("/nowhere"));
    Session::new(Setup {
        recipe: &PLAIN,
        gate: Gate::new(&options),
        folder: "/nowhere".to_owned(),
        servers: Vec::new(),
        own: Own::default(),
        introduction: "Be kind.".to_owned(),
        resume: None,
        names: Names::WithProvider,
        model: None,
        late: Late::MayCome,
        past: Vec::new(),
    })
}
