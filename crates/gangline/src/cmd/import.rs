//! `gangline import`: culture's configuration, read and put in Gangline's form.

use std::{
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
};

use gangline_config::{
    Config, ConfigError, MAX_CONFIG_BYTES,
    import::{self, Import, Look, Note, Source},
    resolve_path,
};
use gangline_os::{
    clock,
    fsio::{self, TooLarge},
    paths,
};
use gangline_runtime::adapters;
use serde::Serialize;

use crate::{cli::Global, configuration, failure::Failure, init::file, output, place};

/// What is looked for in a folder, in this order: the first that says something decides.
const NAMES: [&str; 4] = ["server.yaml", "agents.yaml", "mesh.yaml", "culture.yaml"];

/// What was done, for programs.
#[derive(Serialize)]
struct Summary<'a> {
    /// Absent after a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<&'a Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_aside: Option<&'a Path>,
    read: &'a [PathBuf],
    agents: Vec<&'a str>,
    switched_off: Vec<&'a str>,
    notes: &'a [Note],
    warnings: &'a [String],
    /// Present after a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
}

/// Convert culture's configuration into agents.yaml; its files are not changed
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// server.yaml, agents.yaml, mesh.yaml, culture.yaml, or a folder of them [default: ~/.culture]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Where to write [default: that of --config, else $XDG_CONFIG_HOME/gangline/agents.yaml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Rename an existing configuration, adding the time to its name
    #[arg(long)]
    pub(crate) force: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let sources = sources(&args.paths, home.as_deref())?;
    let look = |path: &Path| look(&resolve_path(path, home.as_deref(), Path::new("/")));
    let import = import::import(&sources, &look).map_err(|error| {
        Failure::user(error.to_string()).hint("nothing was written, and the files are unchanged")
    })?;
    let warnings = warnings(&import.config, home.as_deref());
    if args.dry_run {
        return dry(global, &import, &warnings);
    }
    let target = match &args.out {
        Some(out) => paths::absolute(out),
        None => place::plain(&global.place())?.config_file,
    };
    let aside = write(&target, &import, &args)?;
    if global.json {
        output::json(&summary(&import, &warnings, Some((&target, aside.as_deref()))))?;
    } else {
        output::print(&outcome(&import, &warnings, (&target, aside.as_deref())))?;
    }
    Ok(0)
}

/// Reads the files that were named, or those of `~/.culture`.
fn sources(paths: &[PathBuf], home: Option<&Path>) -> Result<Vec<Source>, Failure> {
    let usual;
    let paths = if paths.is_empty() {
        let home = home.ok_or_else(|| {
            Failure::user("there is no HOME to look for .culture in").hint("name the files")
        })?;
        usual = [home.join(".culture")];
        if !usual[0].is_dir() {
            return Err(Failure::user(format!("there is no {}", usual[0].display()))
                .hint("name the files: `gangline import PATH…`"));
        }
        &usual[..]
    } else {
        paths
    };
    let mut sources = Vec::new();
    for path in paths {
        let path = paths::absolute(path);
        if path.is_dir() {
            sources.extend(of_folder(&path)?);
        } else {
            let text = read(&path)?;
            sources.push(Source::new(path, text));
        }
    }
    Ok(sources)
}

fn of_folder(folder: &Path) -> Result<Vec<Source>, Failure> {
    let mut sources = Vec::new();
    for name in NAMES {
        let path = folder.join(name);
        if path.is_file() {
            let text = read(&path)?;
            sources.push(Source::new(path, text));
        }
    }
    if sources.is_empty() {
        return Err(Failure::user(format!(
            "no files of culture's are in {}: no {}",
            folder.display(),
            NAMES.join(", no ")
        )));
    }
    Ok(sources)
}

fn read(path: &Path) -> Result<String, Failure> {
    fsio::read_foreign_text(path, MAX_CONFIG_BYTES as u64).map_err(|error| {
        match too_large(&error) {
            Some(size) => {
                let error = ConfigError::too_large(&path.display().to_string(), size);
                Failure::user(error.to_string())
            }
            None => {
                let mut text = error.to_string();
                if let Some(cause) = error.get_ref().and_then(std::error::Error::source) {
                    let _ = write!(text, ": {cause}");
                }
                Failure::user(text)
            }
        }
    })
}

fn too_large(error: &io::Error) -> Option<u64> {
    let size = error.get_ref().and_then(|inner| inner.downcast_ref::<TooLarge>());
    size.map(|TooLarge { size, .. }| *size)
}

/// Reads a file that an agent's folder may have.
fn look(path: &Path) -> Look {
    // A pipe of that name would be waited for.
    if std::fs::metadata(path).is_ok_and(|about| !about.is_file()) {
        return Look::Unreadable("this is no file".to_owned());
    }
    match fsio::read_foreign_text(path, MAX_CONFIG_BYTES as u64) {
        Ok(text) => Look::Text(text),
        Err(error) => match (too_large(&error), error.kind()) {
            (Some(size), _) => Look::TooLarge(size),
            (None, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Look::Absent,
            (None, _) => {
                let cause = error.get_ref().and_then(std::error::Error::source);
                Look::Unreadable(cause.map_or_else(|| error.to_string(), ToString::to_string))
            }
        },
    }
}

/// Returns what will keep agents from starting, one text each.
fn warnings(config: &Config, home: Option<&Path>) -> Vec<String> {
    let registry = configuration::registry();
    let mut warnings = Vec::new();
    for agent in config.agents.iter().filter(|agent| agent.enabled) {
        let directory = resolve_path(&agent.directory, home, Path::new("/"));
        let here = registry.at(&directory);
        let named = agent.agent.as_ref().map(|it| it.as_str().to_owned());
        let name = named.unwrap_or_else(|| here.default(None).name);
        let why = match here.find(&name) {
            Ok(found) => adapters::maker(&found).err().map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = why {
            warnings.push(format!("{}: {why}", agent.nick));
        }
        if !directory.is_dir() {
            warnings.push(format!(
                "{}: its directory {} is not there, so `gangline up` will refuse it",
                agent.nick,
                directory.display()
            ));
        }
    }
    warnings
}

fn dry(global: &Global, import: &Import, warnings: &[String]) -> Result<u8, Failure> {
    if global.json {
        output::json(&summary(import, warnings, None))?;
        return Ok(0);
    }
    output::note(report(import, warnings).trim_end());
    output::print(&import.text)?;
    Ok(0)
}

/// Writes the configuration; never over one that is there, and never over what was read.
fn write(target: &Path, import: &Import, args: &Args) -> Result<Option<PathBuf>, Failure> {
    let real = target.canonicalize().ok();
    let is_source =
        |path: &PathBuf| path == target || (real.is_some() && path.canonicalize().ok() == real);
    if import.read.iter().any(is_source) {
        return Err(Failure::user(format!(
            "{} is one of the imported files, which are never changed",
            target.display()
        ))
        .hint("choose another file with --out FILE"));
    }
    let there = file::is_there(target);
    if there && !args.force {
        return Err(file::taken(target).hint("or write elsewhere: --out FILE"));
    }
    let aside = there.then(|| file::set_aside(target, clock::system().now())).transpose()?;
    file::make_folder(target)?;
    file::write_new(target, &import.text).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => file::taken(target),
        _ => Failure::environment(error).doing(format!("cannot write {}", target.display())),
    })?;
    Ok(aside)
}

fn summary<'a>(
    import: &'a Import,
    warnings: &'a [String],
    written: Option<(&'a Path, Option<&'a Path>)>,
) -> Summary<'a> {
    let nicks = |enabled: bool| {
        let agents = import.config.agents.iter().filter(move |agent| agent.enabled == enabled);
        agents.map(|agent| agent.nick.as_str()).collect()
    };
    Summary {
        config: written.map(|(target, _)| target),
        moved_aside: written.and_then(|(_, aside)| aside),
        read: &import.read,
        agents: nicks(true),
        switched_off: nicks(false),
        notes: &import.notes,
        warnings,
        text: written.is_none().then_some(import.text.as_str()),
    }
}

/// Returns the report on each file and key.
fn report(import: &Import, warnings: &[String]) -> String {
    let mut out = String::new();
    for path in &import.read {
        let _ = writeln!(out, "{:<8} {}", "read", path.display());
    }
    out.push('\n');
    for note in &import.notes {
        let _ = writeln!(out, "{:<8} {note}", note.fate);
    }
    if !warnings.is_empty() {
        out.push('\n');
    }
    for warning in warnings {
        let _ = writeln!(out, "warning: {warning}");
    }
    out
}

fn outcome(
    import: &Import,
    warnings: &[String],
    (target, aside): (&Path, Option<&Path>),
) -> String {
    let mut out = report(import, warnings);
    out.push('\n');
    if let Some(aside) = aside {
        let _ = writeln!(out, "moved aside {}", aside.display());
    }
    let off = import.config.agents.iter().filter(|agent| !agent.enabled).count();
    let agents = match import.config.agents.len() {
        1 => "1 agent".to_owned(),
        many => format!("{many} agents"),
    };
    let off = if off == 0 { String::new() } else { format!(", {off} of them switched off") };
    let _ = writeln!(out, "written  {} ({agents}{off})", target.display());
    out.push_str(NEXT);
    out
}

const NEXT: &str = "
Stop culture first, so that no two programs use the same nick:
  culture agents stop --all
  culture server stop
Next: check the file, then
  gangline config check
  gangline up -d
";
