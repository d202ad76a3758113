//! `gangline config check` and `gangline config schema`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::Subcommand;
use serde::Serialize;

use super::doctor::{program, supervisor};
use crate::{
    cli::Global,
    configuration::{self, Loaded, driven::Ordered, fitness::Unfit, servers},
    failure::Failure,
    fleet::cause::unset,
    output, place,
};

/// What `config check --json` prints.
#[derive(Serialize)]
struct Checked<'a> {
    config: &'a Path,
    ok: bool,
    agents: Vec<&'a str>,
    problems: Vec<Problem>,
    warnings: Vec<String>,
}

/// Something for which `up` refuses the file, or one agent of it.
#[derive(Serialize)]
struct Problem {
    /// The agent; absent if it is the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    error: String,
    hints: Vec<String>,
}

impl Problem {
    fn of(agent: Option<String>, failure: &Failure) -> Self {
        Self { agent, error: failure.sentence(), hints: failure.remedies() }
    }
}

/// Check the configuration, or print its schema
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Config,
}

#[derive(Debug, Subcommand)]
enum Config {
    /// Check the configuration and show faults with line and column
    Check {
        /// The file [default: as for `up`]
        file: Option<PathBuf>,
    },
    /// Print the JSON Schema of agents.yaml
    Schema,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    match args.command {
        Config::Check { file } => check(global, file),
        Config::Schema => schema(),
    }
}

fn check(global: &Global, file: Option<PathBuf>) -> Result<u8, Failure> {
    let file = match file {
        Some(file) => file,
        // It is only read.
        None => place::unread(&global.place())?.config_file,
    };
    let loaded = match configuration::load(&file) {
        Err(failure) if global.json => {
            let problems = vec![Problem::of(None, &failure)];
            let none =
                Checked { config: &file, ok: false, agents: vec![], problems, warnings: vec![] };
            output::json(&none)?;
            return Ok(failure.exit().code());
        }
        loaded => loaded?,
    };
    let server = loaded.unfit_server();
    let unfit = loaded.unfit(&Ordered::new());
    let mut warnings = loaded.warnings();
    warnings.extend(missing_here(&loaded, &unfit));
    warnings.extend(loaded.shared_folders());
    let code = server.as_ref().or(unfit.first().map(|it| &it.failure)).map(|it| it.exit().code());
    if global.json {
        let agents = unfit.iter().map(|it| Problem::of(Some(it.agent.to_string()), &it.failure));
        let problems = server.iter().map(|it| Problem::of(None, it)).chain(agents).collect();
        let agents = loaded.config.agents.iter().map(|agent| agent.nick.as_str()).collect();
        output::json(&Checked { config: &file, ok: code.is_none(), agents, problems, warnings })?;
        return Ok(code.unwrap_or(0));
    }
    warnings.iter().for_each(|warning| output::note(&format!("warning: {warning}")));
    loaded.shells().iter().for_each(|text| output::note(text));
    server.iter().for_each(Failure::report);
    unfit.iter().for_each(|unfit| unfit.failure.report());
    if code.is_none() {
        let agents = match loaded.config.agents.len() {
            1 => "1 agent".to_owned(),
            many => format!("{many} agents"),
        };
        output::print(&format!("{}: ok ({agents})\n", file.display()))?;
    }
    Ok(code.unwrap_or(0))
}

/// Returns what agents need and this shell has not got, one text each. The hub may be started where it
/// is there, so it is no reason to refuse.
fn missing_here(loaded: &Loaded, unfit: &[Unfit]) -> Vec<String> {
    let file = loaded.file.display();
    let is_set = |name: &str| std::env::var(name).is_ok_and(|value| !value.trim().is_empty());
    let lacks = |name: &str, key: &str| {
        let unset = unset(name);
        format!("{unset} here (`{key}`): set it in the shell that starts the hub")
    };
    let network = &loaded.config.network;
    let login = network.sasl.as_ref().filter(|it| !network.embedded && !is_set(&it.password_env));
    let login = login.map(|it| format!("{file}: {}", lacks(&it.password_env, "password_env")));
    let mut missing: Vec<String> = login.into_iter().collect();
    // The same for all agents, as a rule.
    let mut unwatched: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for agent in loaded.enabled().filter(|it| unfit.iter().all(|unfit| unfit.agent != it.nick)) {
        let Ok(driven) = loaded.driven(agent, None) else { continue };
        if let Some(why) = supervisor::missing(loaded, &driven) {
            unwatched.entry(why).or_default().push(agent.nick.as_str());
        }
        let key = driven.agent.api_key_env.clone().filter(|name| !is_set(name));
        let servers = servers::resolved(&driven.agent).err().map(|failure| failure.sentence());
        let program = program::missing(driven).map(|why| {
            format!("its program cannot be run here: {why}; install it, or name its path")
        });
        let key = key.map(|name| lacks(&name, "api_key_env"));
        let each = key.into_iter().chain(servers).chain(program);
        missing.extend(each.map(|text| format!("{file}: {}: {text}", agent.nick)));
    }
    let unwatched = unwatched.into_iter();
    missing.extend(
        unwatched.map(|(why, nicks)| format!("{file}: supervisor of {}: {why}", nicks.join(", "))),
    );
    missing
}

fn schema() -> Result<u8, Failure> {
    output::json(&gangline_config::schema())?;
    Ok(0)
}
