//! The program of a backend: where it is, its version, what that is worth.

use gangline_os::process::base_env;
use gangline_runtime::{
    registry::known::{self, Judged},
    tmux,
};

use super::{
    hub::Hub,
    report::Check,
    subject::{Place, Subject, locate},
};
use crate::{
    configuration::driven::Driven,
    versions::{Question, Version},
};

const NAME: &str = "program";

/// Judges a subject's program by what it said of its version; none when it was not asked.
pub(super) fn check(subject: &Subject, version: Option<&Version>, hub: &Hub) -> Check {
    match path_of(subject) {
        Ok(path) => judge(subject, version, &path, hub),
        Err(check) => check,
    }
}

/// Returns where the program is, or what the check says without one.
fn path_of(subject: &Subject) -> Result<String, Check> {
    match subject.place().map(Place::file) {
        None if subject.found.entry.needs_command => Err(Check::fail(NAME, "none is named")
            .remedy("write `command: [PROGRAM, …]`, its words in a list")),
        None if subject.found.entry.takes_acp_command => {
            Err(Check::note(NAME, "any: an agent names it by `acp_command`"))
        }
        None => Err(Check::ok(NAME, "part of Gangline")),
        Some(Err(why)) => {
            let install = match subject.known().install {
                "" => "install it".to_owned(),
                install => format!("`{install}`"),
            };
            let check = Check::fail(NAME, why).remedy(install);
            Err(match subject.agent() {
                Some(_) => check.remedy("or write its path as `command`, as a list of words"),
                None => check,
            })
        }
        Some(Ok(path)) => Ok(path.display().to_string()),
    }
}

/// Adds how the program is installed or replaced.
fn install(subject: &Subject, hub: &Hub, check: Check) -> Check {
    match (subject.known().install, subject.agent()) {
        ("", _) => check,
        (install, Some(agent)) if hub.runs => {
            check.remedy(format!("`{install}`, then `gangline restart {}`", agent.nick))
        }
        (install, _) => check.remedy(format!("`{install}`")),
    }
}

/// Whether the adapter refuses a program that does not tell a version which is new enough.
fn asks(subject: &Subject) -> bool {
    subject.known().oldest.is_some() && !subject.on_screen()
}

fn judge(subject: &Subject, version: Option<&Version>, path: &str, hub: &Hub) -> Check {
    let install = |check| install(subject, hub, check);
    // Many a program of one's own knows no such question.
    let doubt = |text: String| match (asks(subject), subject.known().install) {
        (true, _) => Check::fail(NAME, text),
        (false, "") => Check::note(NAME, text),
        (false, _) => Check::warn(NAME, text),
    };
    let by_hand = format!("run `{path} --version` yourself, as the agent's user");
    match version {
        None => Check::ok(NAME, path),
        Some(Version::Known(line)) => judge_line(subject, line, path, hub),
        Some(Version::Namesake(line)) => install(Check::fail(
            NAME,
            format!("{path} is another program with that name; it prints `{line}`"),
        )),
        Some(Version::Broken(why)) => install(doubt(format!("{path}: version unknown ({why})"))),
        Some(Version::Unknown) => {
            doubt(format!("{path}: version unknown (it prints nothing)")).remedy(by_hand)
        }
        Some(late @ Version::Late) => {
            let why = late.problem().unwrap_or_default();
            Check::warn(NAME, format!("{path}: version unknown ({why})")).remedy(by_hand)
        }
    }
}

/// Judges the line in which the program says its version.
fn judge_line(subject: &Subject, line: &str, path: &str, hub: &Hub) -> Check {
    let install = |check| install(subject, hub, check);
    let known = subject.known();
    let Some(version) = known::Version::in_line(line) else {
        return match asks(subject) {
            true => install(Check::fail(
                NAME,
                format!(
                    "{path} does not report a version: it prints \
                     `{line}`"
                ),
            )),
            false => Check::ok(NAME, format!("{line}: {path}")),
        };
    };
    match known.judge(version, subject.tested(), subject.on_screen()) {
        Judged::Tested => Check::ok(NAME, format!("{version} (tested): {path}")),
        Judged::Older(tested) => Check::ok(NAME, format!("{version} (tested is {tested}): {path}")),
        Judged::Untried => Check::ok(NAME, format!("{version} (no release was tested): {path}")),
        Judged::Newer(tested) => {
            let text = format!("{version} is newer than the tested {tested}: {path}");
            let check = Check::warn(NAME, text);
            match subject.on_screen() {
                true => check,
                false => {
                    check.remedy(format!("`gangline doctor --deep {}` tries it", named(subject)))
                }
            }
        }
        Judged::TooOld(oldest) => install(Check::fail(
            NAME,
            format!("{version} is too old, at least {oldest} is needed: {path}"),
        )),
        Judged::Bad(why) => {
            install(Check::fail(NAME, format!("{version} is known to be bad ({why}): {path}")))
        }
    }
}

/// Returns why the agent's program cannot be run from here; none if it can, or if it has none.
pub(in crate::cmd) fn missing(driven: Driven) -> Option<String> {
    Subject::of_agent(driven).place()?.file().err()
}

/// Returns the word by which this subject is picked.
fn named(subject: &Subject) -> String {
    match subject.agent() {
        Some(agent) => agent.nick.to_string(),
        None => subject.found.name.clone(),
    }
}

/// Returns how tmux is asked for its version, or what is wrong with it.
pub(super) fn tmux_question() -> Result<Question, Check> {
    let env = base_env();
    let path = std::env::var("PATH").unwrap_or_default();
    match locate("tmux", &path, "/".as_ref()).file() {
        Ok(program) => Ok(Question { program, args: vec!["-V".to_owned()], env, namesake: None }),
        Err(why) => {
            Err(Check::fail("tmux", why).remedy("install tmux: agents in a terminal need it"))
        }
    }
}

/// Judges tmux by what it said.
pub(super) fn tmux_check(question: &Question, version: &Version) -> Check {
    const NAME: &str = "tmux";
    let path = question.program.display();
    match (version, version.problem()) {
        (Version::Known(line), _) => match tmux::refused(line) {
            Some(why) => Check::fail(NAME, format!("{why}: {path}")).remedy("install a newer tmux"),
            None => Check::ok(NAME, format!("{line}: {path}")),
        },
        (_, why) => {
            Check::warn(NAME, format!("{path}: version unknown ({})", why.unwrap_or_default()))
                .remedy(format!("run `{path} -V` yourself"))
        }
    }
}
