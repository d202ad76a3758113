//! `gangline runtime list`: every backend of the registry, where it comes from and who uses it.

use std::{collections::BTreeMap, path::PathBuf};

use gangline_os::process::{base_env, find_on_path};
use gangline_runtime::{
    adapters,
    registry::{self, Found, Problem, Registry, Said, Source},
};
use serde::Serialize;

use crate::{
    cli::Global,
    configuration::{self, Loaded, driven::Ordered},
    failure::Failure,
    output, place,
    show::{
        table::{Cell, table},
        text::cut,
    },
    store,
    versions::{Question, Version, ask_all},
};

/// So much of a reason has room in a column, in characters.
const REASON_MAX: usize = 40;

/// The whole list, for programs.
#[derive(Serialize)]
struct Listing {
    default: Usual,
    runtimes: Vec<Row>,
    problems: Vec<String>,
    ignored: Vec<String>,
}

/// What is taken when an agent names no backend and its project none either.
#[derive(Serialize)]
struct Usual {
    name: String,
    source: String,
}

/// One backend. Of its environment only the names are told.
#[derive(Serialize)]
struct Row {
    name: String,
    adapter: &'static str,
    about: &'static str,
    /// The program and the words before our own, as configured or usual.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    command: Vec<String>,
    /// Where the program is.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Why there is no version although there is a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    version_unknown: Option<String>,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    env: Vec<String>,
    default: bool,
    agents: Vec<String>,
    /// Those of them that have it by `--runtime`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    ordered_for: Vec<String>,
    /// Why this build cannot run it.
    #[serde(skip_serializing_if = "Option::is_none")]
    lacking: Option<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Also list fields of the files that Gangline ignores
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let installation = place::existing(&global.place())?;
    let loaded = installation.configuration();
    let ordered = store::ordered(&installation.paths);
    let registry = configuration::registry();
    let usual = registry.default(None);
    let (users, more) = users(loaded.as_ref(), &ordered);
    let mut rows: Vec<Row> = Vec::new();
    for found in registry.list().into_iter().chain(more) {
        let by = users.get(&(found.name.clone(), found.source.to_string()));
        rows.push(row(&found, &usual, by.map_or(&[], Vec::as_slice)));
    }
    versions(&mut rows).await;
    let (problems, ignored) = problems(&registry, loaded.as_ref());
    let listing = Listing {
        default: Usual { source: usual.source.to_string(), name: usual.name },
        runtimes: rows,
        problems,
        ignored,
    };
    if global.json {
        output::json(&listing)?;
        return Ok(0);
    }
    output::print(&text(&listing, args.verbose))?;
    for problem in &listing.problems {
        output::note(&format!("error: {problem}"));
    }
    Ok(0)
}

/// An agent that a backend drives.
struct User {
    nick: String,
    /// By `--runtime`, in the place of the configured one.
    ordered: bool,
}

/// By name and source: the agents that a backend drives.
type Users = BTreeMap<(String, String), Vec<User>>;

/// Returns which agents each backend drives, and backends that stand in the files of one rig only.
fn users(loaded: Option<&Loaded>, ordered: &Ordered) -> (Users, Vec<Found>) {
    let (mut users, mut more): (Users, Vec<Found>) = Default::default();
    let Some(loaded) = loaded else { return (users, more) };
    for agent in &loaded.config.agents {
        let here = loaded.registry.at(&agent.directory);
        let configured = loaded.backend_name(agent);
        let name = ordered.get(&agent.nick).unwrap_or(&configured);
        let Ok(found) = here.find(name) else { continue };
        let known = loaded.registry.find(&found.name).is_ok_and(|it| it.source == found.source);
        let listed = more.iter().any(|it| it.name == found.name && it.source == found.source);
        let key = (found.name.clone(), found.source.to_string());
        users
            .entry(key)
            .or_default()
            .push(User { nick: agent.nick.to_string(), ordered: *name != configured });
        if !known && !listed {
            more.push(found);
        }
    }
    (users, more)
}

fn row(found: &Found, usual: &Said, users: &[User]) -> Row {
    let name = found.program();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let key = match &found.source {
        Source::BuiltIn => None,
        Source::File { path, .. } => Some(path.clone()),
    };
    let command = match (&found.command, name) {
        (Some(command), _) => command.clone(),
        (None, program) => program.map(str::to_owned).into_iter().collect(),
    };
    Row {
        adapter: found.entry.name,
        about: found.entry.about,
        path: name.and_then(|name| find_on_path(name.as_ref(), &path)),
        command,
        version: None,
        version_unknown: None,
        source: found.source.to_string(),
        key,
        env: found.env.keys().cloned().collect(),
        default: found.name == usual.name,
        agents: users.iter().map(|it| it.nick.clone()).collect(),
        ordered_for: users.iter().filter(|it| it.ordered).map(|it| it.nick.clone()).collect(),
        lacking: adapters::maker(found).err().map(|error| error.to_string()),
        name: found.name.clone(),
    }
}

/// Asks each program for its version, all at once.
async fn versions(rows: &mut [Row]) {
    let (rows, questions): (Vec<&mut Row>, Vec<Question>) = rows
        .iter_mut()
        .filter_map(|row| {
            let program = row.path.clone()?;
            let entry = registry::built_in(row.adapter)?;
            let args = vec!["--version".to_owned()];
            let namesake = entry.known.namesake;
            Some((row, Question { program, args, env: base_env(), namesake }))
        })
        .unzip();
    for (row, version) in rows.into_iter().zip(ask_all(questions).await) {
        row.version_unknown = version.problem();
        row.version = match version {
            Version::Known(line) => Some(line),
            Version::Unknown | Version::Late | Version::Broken(_) | Version::Namesake(_) => None,
        };
    }
}

/// Returns what is wrong with the files, and what of them is not used, one text each.
fn problems(registry: &Registry, loaded: Option<&Loaded>) -> (Vec<String>, Vec<String>) {
    let places = loaded.into_iter().flat_map(|loaded| {
        loaded.config.agents.iter().map(|agent| loaded.registry.at(&agent.directory))
    });
    let (mut problems, mut ignored) = (Vec::new(), Vec::new());
    let add = |list: &mut Vec<String>, more: &[Problem]| {
        for text in more.iter().map(ToString::to_string) {
            if !list.contains(&text) {
                list.push(text);
            }
        }
    };
    for registry in std::iter::once(registry.clone()).chain(places) {
        add(&mut problems, registry.problems());
        add(&mut ignored, registry.ignored());
    }
    (problems, ignored)
}

fn text(listing: &Listing, verbose: bool) -> String {
    let dash = || "-".to_owned();
    let rows: Vec<_> = listing
        .runtimes
        .iter()
        .map(|row| {
            let place = match (&row.path, row.command.first()) {
                (Some(path), _) => path.display().to_string(),
                (None, Some(program)) => format!("{program}: not found"),
                (None, None) if row.adapter == "native" => "part of Gangline".to_owned(),
                (None, None) => dash(),
            };
            let agent = |nick: &String| match row.ordered_for.contains(nick) {
                true => format!("{nick} (--runtime)"),
                false => nick.clone(),
            };
            let agents: Vec<_> = row.agents.iter().map(agent).collect();
            let agents = if agents.is_empty() { dash() } else { agents.join(", ") };
            [
                Cell::from(format!("{}{}", row.name, if row.default { " *" } else { "" })),
                Cell::from(if row.lacking.is_some() { "lacking" } else { row.adapter }),
                Cell::from(place),
                Cell::from(match (&row.version, &row.version_unknown) {
                    (Some(version), _) => version.clone(),
                    (None, Some(why)) => format!("unknown ({})", cut(why, REASON_MAX)),
                    (None, None) => dash(),
                }),
                Cell::from(row.source.clone()),
                Cell::from(agents),
            ]
        })
        .collect();
    let mut out = table(["NAME", "ADAPTER", "PROGRAM", "VERSION", "SOURCE", "AGENTS"], &rows);
    let usual = &listing.default;
    out.push_str(&format!("\n* is the default: {} ({})\n", usual.name, usual.source));
    match (verbose, listing.ignored.len()) {
        (_, 0) => {}
        (true, _) => {
            listing.ignored.iter().for_each(|line| out.push_str(&format!("ignored: {line}\n")));
        }
        (false, many) => {
            out.push_str(&format!(
                "{many} fields of the files are ignored; --verbose lists \
                 them\n"
            ));
        }
    }
    out
}
