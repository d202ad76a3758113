//! The program of a backend: where it is, its version, what that is worth.

use gangline_os::process::base_env;
use gangline_runtime::{
    registry::known::{self, Judged},
    tmux,
};

use super::{
    hub::Hub,
    sheet::Check,
    subject::{Place, Subject, locate},
};
use crate::{
    configuration::driven::Driven,
    versions::{Question, Version},
};

const NAME: &str = "program";

/// Judges a subject's program by what it said of its version; none when it was not asked.
pub(super) fn check(subject: &Subject, version: Option<&Version>, hub: &Hub) -> Check {
    let known = subject.known();
    let install = |check: Check| match (known.install, subject.agent()) {
        ("", _) => check,
        (install, Some(agent)) if hub.runs => {
            check.remedy(format!("`{install}`, then `gangline restart {}`", agent.nick))
        }
        (install, _) => check.remedy(format!("`{install}`")),
    };
    let path = match subject.place().map(Place::file) {
        None if subject.found.entry.needs_command => {
            return Check::fail(NAME, "none is named")
                .remedy("write `command: [PROGRAM, …]`, its words in a list");
        }
        None if subject.found.entry.takes_acp_command => {
            return Check::note(NAME, "any: an agent names it by `acp_command`");
        }
        None => return Check::ok(NAME, "part of Gangline"),
        Some(Err(why)) => {
            let install = match known.install {
                "" => "install it".to_owned(),
                install => format!("`{install}`"),
            };
            let check = Check::fail(NAME, why).remedy(install);
            return match subject.agent() {
                Some(_) => check.remedy("or name its path as `command`, as a list of words"),
                None => check,
            };
        }
        Some(Ok(path)) => path.display().to_string(),
    };
    // Its adapter refuses what does not tell a version that is new enough.
    let asks = known.oldest.is_some() && !subject.on_screen();
    // Many a program of one's own knows no such question.
    let doubt = |text: String| match (asks, known.install) {
        (true, _) => Check::fail(NAME, text),
        (false, "") => Check::note(NAME, text),
        (false, _) => Check::warn(NAME, text),
    };
    let line = match version {
        Some(Version::Known(line)) => line,
        Some(Version::Namesake(line)) => {
            return install(Check::fail(
                NAME,
                format!("{path} is another program of that name; it says `{line}`"),
            ));
        }
        Some(Version::Broken(why)) => {
            return install(doubt(format!("{path}: version unknown ({why})")));
        }
        Some(Version::Unknown) => {
            return doubt(format!("{path}: version unknown (it says nothing)"))
                .remedy(format!("try `{path} --version` by hand, as the agent's user"));
        }
        Some(late @ Version::Late) => {
            let why = late.problem().unwrap_or_default();
            return Check::warn(NAME, format!("{path}: version unknown ({why})"))
                .remedy(format!("try `{path} --version` by hand, as the agent's user"));
        }
        None => return Check::ok(NAME, path),
    };
    let Some(version) = known::Version::in_line(line) else {
        return match asks {
            true => {
                install(Check::fail(NAME, format!("{path} names no version: it says `{line}`")))
            }
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
                .remedy(format!("try `{path} -V` by hand"))
        }
    }
}
