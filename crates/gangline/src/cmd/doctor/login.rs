//! Whether a backend has a login, as far as that shows without starting its program. Values of
//! variables and what stands in files of logins are never read.

use std::path::{Path, PathBuf};

use super::{
    hub::{self, Hub},
    report::{Check, Level},
    subject::Subject,
};
use gangline_runtime::registry::Found;

use crate::configuration::driven::Driven;

const NAME: &str = "login";
/// Where programs keep their logins in the system's keyring.
const KEYRING: bool = cfg!(target_os = "macos");

/// Looks for the login of a subject; none where it needs none.
pub(super) fn check(subject: &Subject, hub: &Hub) -> Option<Check> {
    if let Some(name) = subject.key_variable() {
        return Some(hub::variable(NAME, name, hub));
    }
    if subject.found.entry.needs_key {
        return match subject.driven.as_ref()?.has_key() {
            Ok(()) => Some(Check::ok(NAME, "its model is on this machine and needs no key")),
            Err(failure) => Some(Check::failed(NAME, &failure)),
        };
    }
    of_program(subject)
}

/// Returns what is missing so that this agent's backend can answer, as far as that can be told
/// without starting it; none if nothing is, or if its daemon tells.
pub(in crate::cmd) fn missing(driven: Driven) -> Option<String> {
    let subject = Subject::of_agent(driven);
    if subject.key_variable().is_some() || subject.found.entry.needs_key {
        return None;
    }
    let check = of_program(&subject)?;
    match check.result {
        Level::Ok | Level::Note => None,
        Level::Warn | Level::Fail => {
            Some(std::iter::once(check.found).chain(check.remedies).collect::<Vec<_>>().join("; "))
        }
    }
}

/// Returns the same of a backend by itself, with the variable of this shell by which an agent could
/// have a key instead.
pub(in crate::cmd) fn missing_of(found: Found) -> Option<(String, Option<&'static str>)> {
    let subject = Subject::of_backend(found);
    let check = of_program(&subject)?;
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let mut keys = subject.known().login.variables.iter().filter(|name| name.ends_with("_API_KEY"));
    match check.result {
        Level::Ok | Level::Note => None,
        Level::Warn | Level::Fail => {
            let first = check.remedies.into_iter().next();
            let text = std::iter::once(check.found).chain(first).collect::<Vec<_>>().join("; ");
            Some((text, keys.find(|name| is_set(name)).copied()))
        }
    }
}

/// Looks for the login of a program.
pub(super) fn of_program(subject: &Subject) -> Option<Check> {
    let login = subject.known().login;
    let agent = subject.agent();
    let set = |name: &&&str| subject.env.get(**name).is_some_and(|value| !value.is_empty());
    if let Some(name) = login.variables.iter().find(set) {
        return Some(Check::ok(NAME, format!("{name} is in its environment")));
    }
    if agent.is_some_and(|agent| agent.base_url.is_some()) {
        return Some(Check::note(NAME, "unknown: the server at its `base_url` may need no key"));
    }
    // Nobody logs in by a program that is not there.
    subject.place()?.file().ok()?;
    let Some(folder) = folder(subject) else {
        let how = match login.how {
            "" => String::new(),
            how => format!("; if it asks for one: `{how}`"),
        };
        return Some(Check::note(NAME, format!("unknown: only the program knows{how}")));
    };
    let there = |file: &&&str| folder.join(file).is_file();
    if let Some(file) = login.files.iter().find(there) {
        return Some(Check::ok(NAME, folder.join(file).display().to_string()));
    }
    if let Some(file) = login.maybe.iter().find(there) {
        let file = folder.join(file);
        return Some(Check::note(NAME, format!("unknown: {} may name one", file.display())));
    }
    if KEYRING {
        return Some(Check::note(NAME, "unknown: it may be in the system's keyring"));
    }
    Some(absent(subject, &folder))
}

fn absent(subject: &Subject, folder: &Path) -> Check {
    let login = subject.known().login;
    let file = login.files.first().or(login.maybe.first()).copied().unwrap_or_default();
    let text = format!("{} is not there", folder.join(file).display());
    let mut check = Check::warn(NAME, text);
    let account = subject.agent().and_then(|agent| agent.account_dir.as_deref());
    check = match (login.how, account, login.folder_variable) {
        ("", ..) => check,
        (how, Some(dir), Some(variable)) => {
            check.remedy(format!("log in by `{variable}={} {how}`{}", dir.display(), login.then))
        }
        (how, ..) => check.remedy(format!("log in by `{how}`{}, as the agent's user", login.then)),
    };
    let here = |name: &&&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match login.variables.iter().find(here) {
        Some(name) => check.remedy(format!(
            "{name} is set here, but agents do not get it: write `api_key_env: {name}`"
        )),
        None => check,
    }
}

/// Returns the folder in which the program keeps its login, where that is known.
fn folder(subject: &Subject) -> Option<PathBuf> {
    let login = subject.known().login;
    if login.folder.is_empty() {
        return None;
    }
    let account = subject.agent().and_then(|agent| agent.account_dir.clone());
    let named = |name: &str| subject.env.get(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let named = login.folder_variable.and_then(|name| account.or_else(|| named(name)));
    named.or_else(|| subject.env.get("HOME").map(|home| Path::new(home).join(login.folder)))
}
