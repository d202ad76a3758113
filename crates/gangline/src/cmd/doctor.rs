//! `gangline doctor`: is everything as it should be, and what to do where it is not. Looks, and
//! changes nothing. Start at [`run`]; what one line says is made in the file of its topic.

mod agent;
mod deep;
mod hub;
mod installation;
pub(super) mod login;
pub(super) mod program;
mod reading;
mod report;
mod sandbox;
mod show;
mod shown;
mod status;
mod subject;
pub(super) mod supervisor;
mod target;
#[cfg(test)]
mod tests;
mod tried;

use std::collections::{BTreeMap, BTreeSet};

use gangline_api::status::StatusNote;
use gangline_config::{
    AgentConfig,
    nearest::{nearest, slips},
};
use gangline_core::AgentName;
use gangline_os::{paths::Paths, terminal};
use gangline_runtime::registry::{Found, Registry, Source};
use gangline_store::AgentRow;
use serde::Serialize;

use self::{
    agent::AgentCheck,
    deep::Detail,
    hub::Hub,
    report::{About, Check, Counts, Group, Level},
    show::Line,
    status::DaemonStatus,
    subject::{Place, Subject},
    tried::{NotTried, Round},
};
use crate::{
    cli::Global,
    configuration::{self, Loaded, driven::Ordered},
    failure::Failure,
    output, place, store,
    versions::{Question, Version, ask_all},
};

/// The exit code of what a Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// All of it, for programs.
#[derive(Serialize)]
struct Report<'a> {
    /// The form of this object; raised when a reader would have to change.
    version: u32,
    /// The worst result.
    result: Level,
    counts: Counts,
    checks: Vec<Line<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deep: Option<Deep<'a>>,
}

/// What the suite found.
#[derive(Serialize)]
struct Deep<'a> {
    tried: Vec<shown::Tried<'a>>,
    not_tried: &'a [NotTried],
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// The installation with all that is in it.
    ForAll,
    /// What was named.
    ByName,
}

impl Asked {
    fn of(args: &Args) -> Self {
        if args.names.is_empty() { Self::ForAll } else { Self::ByName }
    }
}

/// How the configuration was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// The command line or the environment names it.
    Named,
    /// It is the usual one, or the one of the state folder.
    Found,
    /// It is the usual one, for a state folder that was named and has none of its own.
    UsualForState,
}

/// What there is to look at.
struct Site {
    paths: Paths,
    /// The configuration, as far as it can be used.
    loaded: Option<Loaded>,
    registry: Registry,
    /// The backends that `--runtime` has put in the place of configured ones.
    ordered: Ordered,
    /// What the agents' daemons told of themselves.
    told: BTreeMap<AgentName, (AgentRow, StatusNote)>,
    /// How the configuration was chosen.
    choice: Choice,
}

/// Who is looked at.
struct Picked<'a> {
    agents: Vec<AgentCheck<'a>>,
    backends: Vec<Subject>,
    /// Programs of built-in backends that are not here, and whom nobody asked for.
    missing: Vec<&'static str>,
}

/// Check the installation, the agents and their programs; say how to fix what is wrong
///
/// Only reads. It checks the configuration, state folder, stores, hub, IRC server, sockets and disk
/// space, and each agent's status, backend, program, version, login, supervisor, folder, MCP servers and hooks.
/// It takes seconds and needs no network except the configured IRC server.
///
/// Results: `ok`; `note` = nothing to do, or it cannot be checked from outside; `warn` = something
/// may be wrong; `fail` = the configuration cannot work, or an agent cannot answer. After `->`
/// comes what to do.
///
/// With --deep it also tests each program against the rules that Gangline relies on, with a
/// stand-in model and in a temporary folder: no network, no tokens, about a minute each.
///
/// Exit codes: 1 with a `fail` or a broken rule, else 0; 130 after Ctrl-C.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Agents and backends to check [default: the installation, all agents, installed backends]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Also run the programs against a stand-in model
    #[arg(long)]
    pub(crate) deep: bool,
    /// Show each rule, not only one line for each backend
    #[arg(long, requires = "deep")]
    pub(crate) details: bool,
    /// Show each rule, when it was tested and how long that took
    #[arg(long, requires = "deep")]
    pub(crate) times: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let site = Site::of(global)?;
    let picked = match args.names.as_slice() {
        [] => site.everybody(args.deep),
        names => site.these(names)?,
    };
    let (hub, hub_check) = hub::look(&site.paths, site.loaded.as_ref());
    let (versions, tmux) = versions(&picked, args.names.is_empty()).await;
    let mut groups = Vec::new();
    if args.names.is_empty() {
        groups.push(installation(&site, &picked, (&hub, hub_check), tmux).await);
    }
    let asked = Asked::of(&args);
    groups.extend(site.groups(&picked, asked, &hub, &versions));
    let rounds = match args.deep {
        true => Some(tried::rounds(&picked, &groups, &versions)),
        false => None,
    };
    if !global.json {
        output::print(&show::text(&groups, terminal::columns()))?;
    }
    let detail = match (args.times, args.details) {
        (true, _) => Detail::Times,
        (false, true) => Detail::Scores,
        (false, false) => Detail::Lines,
    };
    finish(global, &groups, rounds, detail).await
}

/// Runs the suite if that is asked for, and shows what is left to show.
async fn finish(
    global: &Global,
    groups: &[Group],
    rounds: Option<Round>,
    detail: Detail,
) -> Result<u8, Failure> {
    let counts = Counts::of(groups);
    let mut reports = Vec::new();
    if let Some(round) = &rounds {
        match deep::deep(global, &round.targets, detail).await? {
            Some(all) => reports = all,
            None => return Ok(INTERRUPTED),
        }
    }
    let broken = reports.iter().any(|report| report.failures().next().is_some());
    let bad = broken || counts.fail > 0;
    if global.json {
        let deep = rounds.as_ref().map(|round| {
            let both = round.targets.iter().zip(&reports);
            let tried = both.map(|(target, report)| shown::wire(target, report)).collect();
            Deep { tried, not_tried: &round.not_tried }
        });
        let worst = groups.iter().flat_map(|group| &group.checks).map(|it| it.result).max();
        output::json(&Report {
            version: 1,
            result: if bad { Level::Fail } else { worst.unwrap_or(Level::Ok) },
            counts,
            checks: show::wire(groups),
            deep,
        })?;
        return Ok(u8::from(bad));
    }
    match &rounds {
        Some(round) => {
            output::print(&match detail {
                Detail::Lines => shown::broken(&round.targets, &reports),
                Detail::Scores | Detail::Times => {
                    shown::text(&round.targets, &reports, terminal::columns())
                }
            })?;
            output::print(&tried::left_out(&round.not_tried))?;
        }
        None => output::print(
            "`gangline doctor --deep` also tests the backends: no network, no \
                 tokens\n",
        )?,
    }
    output::print(&format!("{}\n", show::sum(counts)))?;
    Ok(u8::from(bad))
}

/// What the programs of the agents and backends said, in their order.
struct Versions {
    agents: Vec<Option<Version>>,
    backends: Vec<Option<Version>>,
}

/// Asks all programs at once, each once, and tmux if it is needed.
async fn versions(picked: &Picked<'_>, whole: bool) -> (Versions, Option<Check>) {
    let of = |subject: Option<&Subject>| subject.and_then(Subject::question);
    let agents: Vec<_> = picked.agents.iter().map(|it| of(it.subject.as_ref().ok())).collect();
    let backends: Vec<_> = picked.backends.iter().map(|it| of(Some(it))).collect();
    let subjects = picked.agents.iter().filter_map(|it| it.subject.as_ref().ok());
    let on_screen = subjects.chain(&picked.backends).any(Subject::on_screen);
    let tmux = on_screen.then(program::tmux_question);
    let mut questions: Vec<Question> = Vec::new();
    for question in agents.iter().chain(&backends).flatten() {
        if !questions.iter().any(|it| it.is_same(question)) {
            questions.push(question.clone());
        }
    }
    if let Some(Ok(question)) = &tmux {
        questions.push(question.clone());
    }
    let answers = ask_all(questions.clone()).await;
    let answer = |question: &Question| {
        let index = questions.iter().position(|it| it.is_same(question))?;
        answers.get(index).cloned()
    };
    let tmux = tmux.map(|tmux| match tmux {
        Ok(question) => program::tmux_check(&question, &answer(&question).unwrap_or(Version::Late)),
        Err(check) => check,
    });
    let all = |list: Vec<Option<_>>| list.iter().map(|it| answer(it.as_ref()?)).collect();
    (Versions { agents: all(agents), backends: all(backends) }, tmux.filter(|_| whole))
}

async fn installation(
    site: &Site,
    picked: &Picked<'_>,
    (hub, hub_check): (&Hub, Check),
    tmux: Option<Check>,
) -> Group {
    let loaded = site.loaded.as_ref();
    let mut checks = installation::configuration(&site.paths, site.choice);
    checks.extend(installation::registry(&site.problems()));
    checks.push(installation::state(&site.paths));
    checks.push(installation::store(&site.paths).await);
    checks.extend(installation::history(&site.paths));
    checks.push(installation::sockets(&site.paths, loaded));
    checks.push(installation::disk(&site.paths));
    checks.push(hub_check);
    checks.extend(hub::irc(hub, loaded).await);
    checks.extend(hub::sasl(hub, loaded));
    checks.extend(tmux);
    checks.extend(programs(picked, loaded));
    Group { about: About::Installation, name: None, title: "Installation".to_owned(), checks }
}

/// What is not looked at, so that it is not missed.
fn programs(picked: &Picked<'_>, loaded: Option<&Loaded>) -> Vec<Check> {
    let mut checks = Vec::new();
    let off = loaded.into_iter().flat_map(|loaded| &loaded.config.agents);
    let off: Vec<&str> = off.filter(|it| !it.enabled).map(|it| it.nick.as_str()).collect();
    if !off.is_empty() {
        let text = format!("{}; name one to check it", off.join(", "));
        checks.push(Check::note("switched off", text));
    }
    let nobody = picked.agents.is_empty() && picked.backends.iter().all(|it| it.words.is_empty());
    if nobody {
        checks.push(
            Check::warn("programs", "no coding program is on the PATH")
                .remedy("`npm install -g @anthropic-ai/claude-code@latest`, or another one")
                .remedy("or write `agent: native`, which needs only a model key"),
        );
    } else if !picked.missing.is_empty() {
        let text = format!("not on the PATH, and used by no agent: {}", picked.missing.join(", "));
        checks.push(Check::note("programs", text));
    }
    checks
}

impl Site {
    fn of(global: &Global) -> Result<Self, Failure> {
        let plain = place::plain(&global.place())?;
        let named = global.config.is_some();
        let usual = plain.config_file.clone();
        // A state folder that was named has a configuration of its own, as a rule; with nothing of
        // one's own, what the demo left is looked at.
        let (paths, loaded) = match named || (global.state.is_none() && usual.exists()) {
            true => {
                let loaded = configuration::quiet(&usual);
                let named = global.state.is_some();
                (installation::with_state_of(plain, loaded.as_ref(), named), loaded)
            }
            false => {
                let installation = place::existing(&global.place())?;
                let loaded = installation.configuration();
                (installation.paths, loaded)
            }
        };
        let choice = match (named, &global.state) {
            (true, _) => Choice::Named,
            (false, Some(_)) if place::in_use(&paths).is_none() => Choice::UsualForState,
            (false, _) => Choice::Found,
        };
        let (ordered, told) = (store::ordered(&paths), store::statuses(&paths));
        Ok(Self { registry: configuration::registry(), ordered, told, paths, loaded, choice })
    }

    /// Returns what is wrong with the files that add backends.
    fn problems(&self) -> Vec<String> {
        match &self.loaded {
            Some(loaded) => loaded.files(),
            None => self.registry.problems().iter().map(ToString::to_string).collect(),
        }
    }

    /// Returns all agents that should run, and the other installed backends.
    fn everybody(&self, deep: bool) -> Picked<'_> {
        let agents: Vec<_> = self.loaded.iter().flat_map(|it| enabled(it, &self.ordered)).collect();
        let subjects = agents.iter().filter_map(|it: &AgentCheck<'_>| it.subject.as_ref().ok());
        let used: BTreeSet<_> =
            subjects.map(|it| (it.found.name.clone(), it.words.clone())).collect();
        let (mut backends, mut missing) = (Vec::new(), Vec::new());
        for found in self.registry.list() {
            let built_in = found.source == Source::BuiltIn;
            let (name, entry) = (found.name.clone(), found.entry);
            let subject = Subject::of_backend(found);
            match subject.place() {
                _ if used.contains(&(name, subject.words.clone())) => {}
                Some(Place::At(_)) => backends.push(subject),
                Some(Place::Nowhere(_)) if built_in => missing.extend(entry.program),
                Some(Place::Nowhere(_) | Place::Not(_)) => backends.push(subject),
                None if deep && !entry.runs_any() => backends.push(subject),
                None => {}
            }
        }
        Picked { agents, backends, missing }
    }

    /// Returns the agents and backends of these names.
    fn these(&self, names: &[String]) -> Result<Picked<'_>, Failure> {
        let mut picked = Picked { agents: Vec::new(), backends: Vec::new(), missing: Vec::new() };
        for name in names {
            let agents = self.agents(name);
            let agents: Vec<AgentCheck<'_>> = agents
                .into_iter()
                .map(|(loaded, agent)| AgentCheck::of(agent, loaded, &self.ordered))
                .collect();
            // Looked at with the agent that runs it.
            let has = |subject: &Subject| {
                let mut theirs = agents.iter().filter_map(|it| it.subject.as_ref().ok());
                theirs.any(|it| it.found.name == subject.found.name && it.words == subject.words)
            };
            let backend = self.backend(name).map(Subject::of_backend).filter(|it| !has(it));
            let is_nick = agents.iter().any(|it| it.agent.nick.as_str() == name);
            if agents.is_empty() && backend.is_none() {
                return Err(self.unknown(name));
            }
            picked.backends.extend(backend.filter(|_| !is_nick));
            picked.agents.extend(agents);
        }
        Ok(picked)
    }

    /// Returns the agent of this nick, else those whose short name it is.
    fn agents(&self, name: &str) -> Vec<(&Loaded, &AgentConfig)> {
        let Some(loaded) = &self.loaded else { return Vec::new() };
        let word = name.strip_prefix('@').unwrap_or(name).to_ascii_lowercase();
        let whole = word.parse().ok().and_then(|nick| loaded.config.agent(&nick));
        let short = || loaded.config.agents.iter().filter(|agent| agent.nick.short() == word);
        let found: Vec<&AgentConfig> = match whole {
            Some(agent) => vec![agent],
            None => short().collect(),
        };
        found.into_iter().map(|agent| (loaded, agent)).collect()
    }

    /// Returns a backend; one that stands in the files of a rig only is found by its agents.
    fn backend(&self, name: &str) -> Option<Found> {
        let agents = self.loaded.iter().flat_map(|loaded| &loaded.config.agents);
        let mut rigs = agents.map(|agent| self.registry.at(&agent.directory));
        self.registry.find(name).ok().or_else(|| rigs.find_map(|rig| rig.find(name).ok()))
    }

    fn unknown(&self, name: &str) -> Failure {
        let mut known = self.registry.names();
        let agents = self.loaded.iter().flat_map(|loaded| &loaded.config.agents);
        known.extend(agents.map(|agent| agent.nick.to_string()));
        let failure = Failure::user(format!("there is neither an agent nor a backend `{name}`"));
        let failure = match nearest(name, known.iter().map(String::as_str), slips(name)) {
            Some(near) => failure.hint(format!("did you mean {near}?")),
            None => failure,
        };
        let failure = failure.hint(format!("there is: {}", known.join(", ")));
        match self.loaded {
            None if self.paths.config_file.exists() => {
                failure.hint("the configuration has faults: `gangline config check` shows them")
            }
            _ => failure,
        }
    }

    fn groups(
        &self,
        picked: &Picked<'_>,
        asked: Asked,
        hub: &Hub,
        versions: &Versions,
    ) -> Vec<Group> {
        let agents = picked.agents.iter().zip(&versions.agents);
        let agents = self.loaded.iter().flat_map(|loaded| {
            agents.clone().map(|(it, version)| {
                let told = self.told.get(&it.agent.nick);
                let told = told.map(|(row, note)| DaemonStatus { row, note });
                it.group(loaded, (&self.paths, hub), (version.as_ref(), told.as_ref()))
            })
        });
        let backends = picked.backends.iter().zip(&versions.backends);
        let backends = backends.map(|(it, version)| backend(it, version.as_ref(), asked, hub));
        agents.chain(backends).collect()
    }
}

/// Returns the checks of a backend alone.
fn backend(subject: &Subject, version: Option<&Version>, asked: Asked, hub: &Hub) -> Group {
    let found = &subject.found;
    let title = match &found.source {
        Source::BuiltIn => format!("Backend {}", found.name),
        Source::File { .. } => format!("Backend {} ({})", found.name, found.source),
    };
    let mut checks = vec![program::check(subject, version, hub)];
    checks.extend(login::check(subject, hub));
    if asked == Asked::ForAll {
        // No agent has it, so nothing that is configured fails by it.
        for check in &mut checks {
            check.result = check.result.min(Level::Warn);
        }
    }
    Group { about: About::Backend, name: Some(found.name.clone()), title, checks }
}

fn enabled<'a>(loaded: &'a Loaded, ordered: &'a Ordered) -> impl Iterator<Item = AgentCheck<'a>> {
    loaded.enabled().map(|agent| AgentCheck::of(agent, loaded, ordered))
}
