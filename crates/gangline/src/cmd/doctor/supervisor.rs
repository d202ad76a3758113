//! The supervisor of an agent: whether its model can be asked, as far as that shows without starting its
//! program. An agent runs without one, so nothing of it is a failure.

use std::path::Path;

use gangline_agent::watching::{Judge, Watcher};

use super::{
    login,
    report::{Check, Level},
    subject::Subject,
};
use crate::{
    cmd::daemon::RIM,
    configuration::{Loaded, driven::Driven},
};

const NAME: &str = "supervisor";

/// Looks at what watches the agent besides rules; none if nothing does.
pub(super) fn check(loaded: &Loaded, subject: &Subject) -> Option<Check> {
    match loaded.watching((subject.agent()?, &subject.found), RIM).by {
        Watcher::Off | Watcher::Rules => None,
        Watcher::Unusable { agent, why } => Some(
            Check::warn(NAME, format!("{agent} cannot be used: {why}; rules watch alone"))
                .remedy("correct `supervisor`, or write `agent: rules` there"),
        ),
        Watcher::Model(judge) => Some(of_model(&judge, &subject.folder)),
    }
}

/// Returns why the model that is to watch the agent cannot be asked from here; none if it can, or if no
/// model is to.
pub(in crate::cmd) fn missing(loaded: &Loaded, driven: &Driven) -> Option<String> {
    match loaded.watching((&driven.agent, &driven.found), RIM).by {
        Watcher::Unusable { agent, why } => {
            Some(format!("{agent} cannot be used here: {why}; without it, rules watch alone"))
        }
        Watcher::Off | Watcher::Rules | Watcher::Model(_) => None,
    }
}

fn of_model(judge: &Judge, folder: &Path) -> Check {
    let subject = Subject::of_judge(judge, folder);
    let mut who = judge.backend.name.clone();
    if let Some(model) = &judge.model {
        who.push_str(&format!(" with {model}"));
    }
    // What a server of one's own needs, nobody knows.
    let asks = judge.api_key.is_none() && judge.base_url.is_none();
    let login = asks.then(|| login::of_program(&subject)).flatten();
    if let Some(login) = login.filter(|login| login.result >= Level::Warn) {
        let check = Check::warn(NAME, format!("{who}: {}", login.found));
        return login.remedies.into_iter().fold(check, Check::remedy);
    }
    match subject.place().map(|place| place.file()) {
        None => Check::ok(NAME, who),
        Some(Ok(file)) => Check::ok(NAME, format!("{who}: {}", file.display())),
        Some(Err(why)) => {
            Check::warn(NAME, format!("{who} cannot be run: {why}; rules watch alone"))
                .remedy("write the path of its program as `command` under `supervisor`")
        }
    }
}
