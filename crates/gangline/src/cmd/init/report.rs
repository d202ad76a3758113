//! What `gangline init` says when it is done.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use gangline_hub::credentials::{self, OWNER};
use gangline_os::paths::{self, Overrides, Paths};
use gangline_runtime::registry;
use serde::Serialize;

use super::{Done, Token};
use crate::{
    caller,
    cli::Global,
    cmd::demo,
    failure::Failure,
    init::{
        programs::{Found, NATIVE_KEY, PROGRAMS},
        repository::Repository,
        text::Place,
    },
    invite, output,
    versions::Version,
};

#[cfg(test)]
mod tests;

/// Stands before lines that contain the owner's password.
const WITH_PASSWORD: &str =
    "When it runs, connect like this. These lines contain your password: do not share them.\n";

/// The same for programs. The token itself is in its file only.
#[derive(Serialize)]
struct Summary<'a> {
    config: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_aside: Option<&'a Path>,
    state: &'a Path,
    server: &'a str,
    port: u16,
    directory: &'a str,
    programs: Vec<ProgramSummary<'a>>,
    agents: Vec<&'a str>,
    warnings: Vec<String>,
    owner: OwnerSummary<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    repository: Option<String>,
    next: String,
}

#[derive(Serialize)]
struct ProgramSummary<'a> {
    name: &'a str,
    path: &'a Path,
    backend: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why_not: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_login: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    api_key_env: Option<&'a str>,
}

#[derive(Serialize)]
struct OwnerSummary<'a> {
    account: &'a str,
    token_file: PathBuf,
    made: bool,
}

pub(super) fn print(global: &Global, done: &Done) -> Result<(), Failure> {
    if global.json {
        return output::json(&summary(done, up(done)));
    }
    let room = done.loaded.enabled().find_map(|agent| agent.channels.first());
    let room = room.map_or("#general", |room| room.as_str());
    let join = invite::for_caller(&irc(done), &done.owner, Some(room));
    let join = match caller::may_read_password() {
        true => format!("{WITH_PASSWORD}{join}"),
        false => join,
    };
    output::print(&text(done, &join, &up(done)))
}

/// Returns what is told of all that was done; `join` says how to connect, and `up` starts the fleet.
fn text(done: &Done, join: &str, up: &str) -> String {
    let mut out = String::new();
    programs(done, &mut out);
    files(done, &mut out);
    let _ =
        write!(out, "\nThe agents work in {} (`directory` in the file).\n", done.site.directory);
    for warning in done.loaded.warnings() {
        let _ = writeln!(out, "warning: {warning}");
    }
    let _ = write!(out, "\n{join}");
    missing(done, &mut out);
    let next = match done.loaded.enabled().next() {
        Some(_) => up,
        None => "install one of these, or set the key; then `gangline init --force`",
    };
    let _ = write!(out, "\nNext: {next}\n");
    out
}

/// Returns where the chat server will be.
fn irc(done: &Done) -> String {
    match done.loaded.embedded_address() {
        Ok(address) => address.to_string(),
        Err(_) => done.loaded.config.server.address(),
    }
}

fn programs(done: &Done, out: &mut String) {
    if done.found.is_empty() {
        let names: Vec<&str> = PROGRAMS.iter().map(|program| program.name).collect();
        let _ = writeln!(out, "No coding program is on the PATH: {}.", names.join(", "));
        if done.native {
            let _ = writeln!(
                out,
                "The agent is Gangline's own model loop, with the key in {NATIVE_KEY}."
            );
        }
    } else {
        out.push_str("Found:\n");
    }
    for (found, place) in &done.found {
        let version = match &found.version {
            Version::Known(version) => format!(", {version}"),
            Version::Unknown | Version::Late => ", version unknown".to_owned(),
            Version::Broken(_) | Version::Namesake(_) => String::new(),
        };
        let became = match place {
            Place::Agent(nick) => format!("agent {nick}"),
            Place::Comment(why) => format!("no agent: {why}"),
        };
        let (name, path) = (found.program.name, found.path.display());
        let _ = writeln!(out, "  {name:<9} {became}");
        let _ = writeln!(out, "  {:<9} {path}{version}", "");
        if let Some(login) = login(found, place) {
            let _ = writeln!(out, "  {:<9} {login}", "");
        }
    }
}

/// Returns what is said of an agent's login; none if nothing is missing.
fn login(found: &Found, place: &Place) -> Option<String> {
    let missing = found.no_login.as_ref().filter(|_| matches!(place, Place::Agent(_)))?;
    Some(match found.key {
        Some(key) => format!("it has no login and uses the key in {key} (`api_key_env`)"),
        None => format!("NO LOGIN: {missing}"),
    })
}

/// Says what has to be done before anybody can answer: a login, or a program to begin with.
fn missing(done: &Done, out: &mut String) {
    let without = |(found, place): &(Found, Place)| match place {
        Place::Agent(nick) if found.no_login.is_some() && found.key.is_none() => Some(nick.clone()),
        Place::Agent(_) | Place::Comment(_) => None,
    };
    let without: Vec<String> = done.found.iter().filter_map(without).collect();
    if !without.is_empty() {
        let _ = write!(
            out,
            "\nStill missing: a login for {} (see above). Messages to an agent without a \
             login are stored.\n",
            without.join(", ")
        );
    }
    if done.loaded.enabled().next().is_some() {
        return;
    }
    out.push_str(
        "\nStill missing: a program or key, so that an agent can answer. Any one of these is \
         enough:\n",
    );
    for program in PROGRAMS {
        let install = registry::built_in(program.backend).map_or("", |entry| entry.known.install);
        if !install.is_empty() && done.found.iter().all(|(found, _)| found.program != program) {
            let _ = writeln!(out, "  {:<15} {install}", program.title);
        }
    }
    let _ = write!(
        out,
        "  {:<15} a key in {NATIVE_KEY}, for Gangline's own model loop\n\
         Then `gangline init --force` looks again. `gangline demo` needs neither program nor key.\n",
        "no program"
    );
}

fn files(done: &Done, out: &mut String) {
    let config = done.site.paths.config_file.display();
    let agents = match done.loaded.config.agents.len() {
        1 => "1 agent".to_owned(),
        many => format!("{many} agents"),
    };
    out.push('\n');
    if let Some(aside) = &done.aside {
        let _ = writeln!(out, "moved aside  {}", aside.display());
    }
    let _ = writeln!(out, "written      {config}: ok ({agents})");
    let file = credentials::owner_token_file(&done.site.paths);
    let token = match done.token {
        Token::Made => "made        ",
        Token::Kept => "kept        ",
    };
    let _ = writeln!(out, "{token} {} (the owner's password)", file.display());
    if let Some(repository) = repository(done) {
        let _ = writeln!(out, "repository   {repository}");
    }
}

/// Tells what became of a configuration that was there and is to be in a repository.
pub(super) fn kept(
    global: &Global,
    (file, repository): (&Path, &Repository),
) -> Result<u8, Failure> {
    let told = told(file, repository).unwrap_or_default();
    match repository {
        Repository::NoGit | Repository::Failed(_) => {
            return Err(Failure::user(format!("there is no repository: {told}"))
                .hint("the configuration is as it was"));
        }
        Repository::NotAsked
        | Repository::Made
        | Repository::Committed
        | Repository::Unchanged
        | Repository::Inside(_) => {}
    }
    if global.json {
        output::json(&serde_json::json!({"config": file, "repository": told}))?;
    } else {
        output::print(&format!("config       {}\nrepository   {told}\n", file.display()))?;
    }
    Ok(0)
}

/// Returns the line about the repository; none if nobody asked for one.
fn repository(done: &Done) -> Option<String> {
    told(&done.site.paths.config_file, &done.repository)
}

fn told(file: &Path, repository: &Repository) -> Option<String> {
    let folder = file.parent().unwrap_or(file).display();
    Some(match repository {
        Repository::NotAsked => return None,
        Repository::Made => format!("made in {folder}; the file is its first commit"),
        Repository::Committed => format!("{folder} is one already; the change is committed"),
        Repository::Unchanged => format!("{folder} is one already; nothing has changed"),
        Repository::Inside(top) => {
            format!(
                "none: the folder is in the repository {}, where you may commit the file",
                top.display()
            )
        }
        Repository::NoGit => "none: git is not installed".to_owned(),
        Repository::Failed(why) => format!("none: {why}"),
    })
}

/// Returns the command that starts the fleet from this folder.
fn up(done: &Done) -> String {
    let gangline = demo::invocation();
    let usual = Paths::from_env_with(Overrides::default());
    let found =
        usual.is_ok_and(|it| paths::absolute(&it.config_file) == done.site.paths.config_file);
    if found {
        format!("{gangline} up -d")
    } else {
        format!("{gangline} --config {} up -d", quoted(&done.site.paths.config_file))
    }
}

/// Returns a path as a shell takes it.
fn quoted(path: &Path) -> String {
    let path = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@%:,=".contains(c);
    if path.chars().all(plain) { path } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

fn summary(done: &Done, next: String) -> Summary<'_> {
    let config = &done.loaded.config;
    Summary {
        config: &done.site.paths.config_file,
        moved_aside: done.aside.as_deref(),
        state: &done.site.paths.state,
        server: &config.server.name,
        port: config.server.port,
        directory: &done.site.directory,
        programs: done.found.iter().map(|(found, place)| one(found, place)).collect(),
        agents: config.agents.iter().map(|agent| agent.nick.as_str()).collect(),
        warnings: done.loaded.warnings(),
        owner: OwnerSummary {
            account: OWNER,
            token_file: credentials::owner_token_file(&done.site.paths),
            made: done.token == Token::Made,
        },
        repository: repository(done),
        next,
    }
}

fn one<'a>(found: &'a Found, place: &'a Place) -> ProgramSummary<'a> {
    let (agent, why_not) = match place {
        Place::Agent(nick) => (Some(nick.as_str()), None),
        Place::Comment(why) => (None, Some(why.as_str())),
    };
    let version = match &found.version {
        Version::Known(version) => Some(version.as_str()),
        Version::Unknown | Version::Late | Version::Broken(_) | Version::Namesake(_) => None,
    };
    let (name, backend) = (found.program.name, found.program.backend);
    let (no_login, api_key_env) = (found.no_login.as_deref(), found.key);
    let path = &found.path;
    ProgramSummary { name, path, backend, version, agent, why_not, no_login, api_key_env }
}
