//! What `--deep` can try, and what it cannot, with the reason.

use std::fmt::Write as _;

use gangline_config::Process;
use gangline_runtime::registry::{
    dialect::{self, Dialect},
    known,
};
use serde::Serialize;

use super::{
    Picked, Versions,
    report::{About, Group, Level},
    subject::{Place, Subject},
    target::Target,
};
use crate::versions::Version;

/// Fields of an agent without which its program cannot be tried.
const TOLD: [&str; 2] = ["model_env", "tools"];

/// A backend that is not tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct NotTried {
    /// How it is called.
    name: String,
    /// Why it is not tried.
    why: String,
}

/// One round of the suite.
#[derive(Debug, Default)]
pub(super) struct Round {
    pub(super) targets: Vec<Target>,
    pub(super) not_tried: Vec<NotTried>,
}

/// Returns what is tried of those that were picked: each program once, however many have it.
pub(super) fn rounds(picked: &Picked<'_>, groups: &[Group], versions: &Versions) -> Round {
    let agents = picked.agents.iter().zip(&versions.agents).filter_map(|(it, version)| {
        Some((it.agent.nick.to_string(), it.subject.as_ref().ok()?, version, About::Agent))
    });
    let backends = picked.backends.iter().zip(&versions.backends);
    let backends =
        backends.map(|(it, version)| (it.found.name.clone(), it, version, About::Backend));
    let mut round = Round::default();
    for (name, subject, version, about) in backends.chain(agents) {
        let group = groups.iter().find(|it| it.about == about && it.name.as_ref() == Some(&name));
        let works = group.is_none_or(|group| {
            group.checks.iter().all(|it| it.check != "program" || it.result != Level::Fail)
        });
        round.add(name, subject, (version.as_ref(), works));
    }
    round
}

impl Round {
    fn add(&mut self, name: String, subject: &Subject, program: (Option<&Version>, bool)) {
        let (version, works) = program;
        let place = subject.place().map(Place::file);
        let (dialect, words) = match (dialect_of(subject), place) {
            (_, Some(Err(why))) => return self.leave(name, why),
            _ if !works => return self.leave(name, "its program cannot run, see above"),
            (Err(why), _) => return self.leave(name, why),
            (Ok(dialect), None) => (dialect, Vec::new()),
            (Ok(dialect), Some(Ok(file))) => {
                let rest = subject.words.iter().skip(1).cloned();
                (dialect, std::iter::once(file.display().to_string()).chain(rest).collect())
            }
        };
        let by_variables = by_variables(subject).is_some();
        let agent = subject.agent();
        let extra = agent.map(|agent| agent.extra.clone()).unwrap_or_default();
        let extra = extra.into_iter().filter(|(key, _)| TOLD.contains(&key.as_str())).collect();
        // A program that nobody knows may need what its agent gives it.
        let env = agent.filter(|_| by_variables).map(|agent| agent.env.clone()).unwrap_or_default();
        let same = |it: &Target| {
            (it.dialect.name(), &it.words) == (dialect.name(), &words)
                && it.found.entry.name == subject.found.entry.name
                && (&it.extra, &it.env) == (&extra, &env)
        };
        if self.targets.iter().any(same) {
            return;
        }
        let version = match version {
            Some(Version::Known(line)) => known::Version::in_line(line),
            Some(Version::Unknown | Version::Late | Version::Broken(_) | Version::Namesake(_))
            | None => None,
        };
        let version = version.map(|version| version.to_string()).unwrap_or_default();
        // Agents with the usual program of their backend stand for it.
        let usual = subject.words.len() <= 1 && subject.found.command.is_none() && !by_variables;
        let name = if usual { subject.found.name.clone() } else { name };
        let found = subject.found.clone();
        self.targets.push(Target { name, found, dialect, words, version, extra, env });
    }

    fn leave(&mut self, name: String, why: impl Into<String>) {
        self.not_tried.push(NotTried { name, why: why.into() });
    }
}

/// Returns how a subject has to be spoken to, or why nobody knows.
fn dialect_of(subject: &Subject) -> Result<&'static Dialect, &'static str> {
    const UNKNOWN: &str = "Gangline cannot pass it a model's address: name its variables in the \
                           agent, `model_env: {base_url: NAME, key: NAME}`";
    const TERMINAL: &str = "a terminal program, whose screen the tests do not know";
    let owner = subject.words.first().and_then(|program| known::owner(program));
    if subject.on_screen() {
        let name = owner.map(|entry| format!("tmux ({})", entry.name));
        return name.and_then(|name| dialect::find(&name)).ok_or(TERMINAL);
    }
    let entry = if subject.found.entry.runs_any() { owner } else { Some(subject.found.entry) };
    if let Some(dialect) = by_variables(subject) {
        return Ok(dialect);
    }
    let name = entry.ok_or(UNKNOWN)?.name;
    let per_turn = subject.agent().is_some_and(|agent| agent.process == Process::PerTurn);
    let own = per_turn.then(|| dialect::find(&format!("{name} per turn"))).flatten();
    own.or_else(|| dialect::find(name)).ok_or(UNKNOWN)
}

/// Returns how a program is spoken to that nobody knows, where its agent names the variables by which
/// it is told its model.
fn by_variables(subject: &Subject) -> Option<&'static Dialect> {
    let named = subject.agent()?.extra.get("model_env")?.get("base_url")?.as_str()?;
    // Two of the wires have no version in front of their paths.
    let plain = ["ANTHROPIC", "CLAUDE", "GEMINI", "GOOGLE"].iter().any(|it| named.contains(it));
    dialect::find(if plain { dialect::BY_VARIABLES_PLAIN } else { dialect::BY_VARIABLES })
}

/// Says which were not tried, and why; empty when all were.
pub(super) fn left_out(not_tried: &[NotTried]) -> String {
    let mut out = String::new();
    if not_tried.is_empty() {
        return out;
    }
    let _ = writeln!(out, "{} not tried:", not_tried.len());
    for NotTried { name, why } in not_tried {
        let _ = writeln!(out, "  {name}: {why}");
    }
    out
}

#[cfg(test)]
mod tests;
