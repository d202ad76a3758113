//! `gangline init`: from nothing to a fleet that can be started.

mod report;

use std::{
    io::{self, BufRead as _, IsTerminal as _, Read as _},
    net::{Ipv4Addr, TcpListener},
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_hub::credentials;
use gangline_os::{
    clock,
    paths::{Overrides, Paths},
    process::base_env,
    secret::Secret,
};
use gangline_runtime::adapters;

use super::doctor::login;
use crate::{
    caller,
    cli::Global,
    configuration::{self, Loaded},
    failure::Failure,
    init::{
        file, name,
        programs::{self, Found, Program},
        repository::{self, Repository},
        text::Plan,
    },
    output, place,
    versions::ask::{Said, ask},
};

/// The first port that is tried, and how many after it.
const PORTS: std::ops::Range<u16> = 6667..6700;

/// Where things go.
struct Site {
    paths: Paths,
    /// Where the agents work.
    directory: String,
    /// The state folder, if somebody named it: the configuration then names it too.
    state: Option<String>,
}

/// Whether the owner's token was there already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Made,
    Kept,
}

/// Everything that was done, to be told.
struct Done {
    site: Site,
    loaded: Loaded,
    found: Vec<(Found, crate::init::text::Place)>,
    /// Whether Gangline's own model loop is the agent, since there is no program.
    native: bool,
    aside: Option<PathBuf>,
    owner: Secret,
    token: Token,
    repository: Repository,
}

/// Set up a fleet: find coding programs, write agents.yaml, make the owner's password
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The folder of the configuration [default: that of --config, else $XDG_CONFIG_HOME/gangline]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// The server's name, which every nick begins with [default: from the machine's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Put the configuration, new or existing, into a git repository; managers need one to ask for
    /// changes
    #[arg(long)]
    pub(crate) git: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Rename an existing configuration, adding the time to its name
    #[arg(long)]
    pub(crate) force: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    caller::refuse("set up a fleet")?;
    if let Some(name) = &args.server {
        name::check(name)?;
    }
    let site = site(global, &args)?;
    let target = site.paths.config_file.clone();
    let there = file::is_there(&target);
    if there && !args.force && args.git {
        let repository = repository::keep(&target).await;
        return report::kept(global, (&target, &repository));
    }
    if there && !args.force {
        return Err(file::taken(&target));
    }
    let old = if there { configuration::quiet(&target) } else { None };
    let registry = configuration::registry();
    let login = |program: &Program| login::missing_of(registry.find(program.backend).ok()?);
    let found = programs::look(login).await;
    let server = match (&args.server, &old) {
        (Some(name), _) => name.clone(),
        (None, Some(old)) => old.config.server.name.clone(),
        (None, None) => name::of_machine(&machine().await),
    };
    let port = match &old {
        // The hub that runs on it may be ours.
        Some(old) => old.config.server.port,
        None => free_port(),
    };
    let has = |backend: &str| adapters::named(backend).is_ok();
    let plan = Plan {
        server: &server,
        port,
        directory: &site.directory,
        state: site.state.as_deref(),
        found: &found,
        has: &has,
        native_key: programs::native_key(),
    };
    let choices = match asks(global, &args) {
        true => asked(&plan, &target, &args)?,
        false => Choices { write: true, git: args.git },
    };
    if !choices.write {
        return Err(Failure::user("nothing was written"));
    }
    let aside = there.then(|| file::set_aside(&target, clock::system().now())).transpose()?;
    write(&target, &plan.text())?;
    place::found::chosen(&site.paths);
    let loaded = configuration::load(&target)?;
    let places: Vec<_> = found.iter().map(|found| plan.place(found)).collect();
    let (owner, token) = owner(&site.paths)?;
    let repository = match choices.git {
        true => repository::keep(&target).await,
        false => Repository::NotAsked,
    };
    let native = plan.is_native();
    let found = found.into_iter().zip(places).collect();
    report::print(global, &Done { site, loaded, found, native, aside, owner, token, repository })?;
    Ok(0)
}

fn site(global: &Global, args: &Args) -> Result<Site, Failure> {
    let mut paths = match &args.dir {
        Some(folder) => {
            let config = Some(folder.join("agents.yaml"));
            place::unread(&Overrides { config, ..global.place() })?
        }
        None => place::unread(&global.place())?,
    };
    paths.config_file = plain(&paths.config_file);
    let here = std::env::current_dir()
        .map_err(|error| Failure::environment(error).doing("cannot find the current folder"))?;
    let directory = utf8(&here)?;
    let state = global.state.as_ref().map(|_| utf8(&paths.state)).transpose()?;
    Ok(Site { paths, directory, state })
}

/// Returns the path without components that say nothing.
fn plain(path: &Path) -> PathBuf {
    path.components().filter(|part| *part != std::path::Component::CurDir).collect()
}

fn utf8(path: &Path) -> Result<String, Failure> {
    path.to_str().map(str::to_owned).ok_or_else(|| {
        Failure::user(format!("{} is not UTF-8, and the configuration is", path.display()))
            .hint("go to a folder with a plain name")
    })
}

/// Returns what the machine calls itself; nothing when it does not say.
async fn machine() -> String {
    let uname = ask("uname".as_ref(), &["-n"], "/".as_ref(), base_env(), Duration::from_secs(5));
    let said = uname.await.unwrap_or_default();
    Said::first(&said.out).unwrap_or_default().to_owned()
}

/// Returns a port that nobody listens on now, 6667 if it can be had.
fn free_port() -> u16 {
    let free = |port: &u16| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok();
    PORTS.into_iter().find(free).unwrap_or(PORTS.start)
}

fn write(target: &Path, text: &str) -> Result<(), Failure> {
    file::make_folder(target)?;
    file::write_new(target, text).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => file::taken(target),
        _ => Failure::environment(error).doing(format!("cannot write {}", target.display())),
    })
}

fn owner(paths: &Paths) -> Result<(Secret, Token), Failure> {
    let path = credentials::owner_token_file(paths);
    let token = if path.is_file() { Token::Kept } else { Token::Made };
    let secret = credentials::load_or_make_owner(&path).map_err(Failure::environment)?;
    Ok((secret, token))
}

/// Returns whether a person sits there who can be asked.
fn asks(global: &Global, args: &Args) -> bool {
    !args.yes && !global.json && io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// What a person wants of `init`.
struct Choices {
    write: bool,
    git: bool,
}

fn asked(plan: &Plan<'_>, target: &Path, args: &Args) -> Result<Choices, Failure> {
    let nicks = plan.nicks();
    let agents = if nicks.is_empty() { "no agents yet".to_owned() } else { nicks.join(", ") };
    let what = format!(
        "This writes {} with {agents}, to work in {}.\nContinue? [Y/n] ",
        target.display(),
        plan.directory
    );
    let write = matches!(answer(&what)?.as_deref(), Some("" | "y" | "yes"));
    if !write || args.git || !repository::has_git() {
        return Ok(Choices { write, git: args.git });
    }
    let git = answer("Keep its changes in a git repository of that folder? [y/N] ")?;
    Ok(Choices { write, git: matches!(git.as_deref(), Some("y" | "yes")) })
}

/// Returns what a person answers, in small letters; none at the end of what is typed.
fn answer(question: &str) -> Result<Option<String>, Failure> {
    output::print(question)?;
    let mut answer = String::new();
    let read = io::stdin().lock().take(100).read_line(&mut answer).map_err(Failure::environment)?;
    Ok((read > 0).then(|| answer.trim().to_ascii_lowercase()))
}
