//! The fleet as commands see it: which agents there are, which run, what the hub says, and waiting
//! until the wanted state is reached. Start at [`Fleet::open`].

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use gangline_api::status::StatusNote;
use gangline_core::{AgentName, Epoch, agent::AgentPhase};
use gangline_hub::about::{self, Hub, KeptProcess, StandingWord};
use gangline_os::{
    change_notice,
    clock::{self, UnixMicros},
    kill::Signal,
    lock::{self, Holder},
    paths::Paths,
    proc,
};
use gangline_store::{AgentRow, Order, Store};

use crate::{
    configuration::{self, Loaded},
    failure::Failure,
    names, output,
    place::Installation,
    show, store,
    view::Facts,
    who::Who,
};

pub(crate) mod cause;
#[cfg(test)]
mod tests;

/// How often the state of things is looked at while it is waited for.
pub(crate) const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A hub opens its store and its chat server before it says what it keeps.
const SETTLED: Duration = Duration::from_secs(15);

/// The agents of one installation, and the store that knows of them.
pub(crate) struct Fleet {
    pub(crate) paths: Paths,
    pub(crate) store: Store,
    /// The configuration; none if there is no usable one.
    pub(crate) loaded: Option<Loaded>,
}

/// Which agents a command is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// All that the command can be about.
    All,
    /// These.
    Named(Vec<Who>),
}

/// One agent as it stands at one moment.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) name: AgentName,
    /// Who holds its lock: its daemon, if it runs.
    pub(crate) holder: Option<Holder>,
    pub(crate) row: Option<AgentRow>,
    pub(crate) order: Option<Order>,
    /// What the hub says of it; none without a hub that keeps it.
    pub(crate) kept: Option<KeptProcess>,
    /// Why it is not started again, if its daemon has said so.
    pub(crate) given_up: Option<String>,
}

/// How far something is that is waited for, with words for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Report {
    /// It is done.
    Done(String),
    /// It is not done yet.
    Waiting(String),
    /// It will not be done by waiting.
    Failed(String),
}

impl Fleet {
    /// Opens the store of an installation; makes one only if there is a configuration.
    pub(crate) async fn open(installation: Installation) -> Result<Self, Failure> {
        let loaded = installation.configuration();
        let paths = installation.paths;
        let store = store::configured(&paths, loaded.as_ref()).await?;
        settled(&paths).await?;
        Ok(Self { paths, store, loaded })
    }

    /// Returns the hub that runs.
    pub(crate) fn hub(&self) -> Result<Option<Hub>, Failure> {
        hub(&self.paths)
    }

    /// Wakes the hub: there is something new in the table.
    pub(crate) fn notify_hub(&self) {
        change_notice::notify(&self.paths.change_notice("hub"));
    }

    /// Returns every agent that is known, as it stands now, by name.
    pub(crate) async fn members(&self) -> Result<Vec<Member>, Failure> {
        let rows = self.store.agents().await?;
        let orders = self.store.orders().await?;
        let about = self.hub()?.and_then(|hub| hub.about);
        let names = store::names(&rows, self.loaded.as_ref());
        names
            .into_iter()
            .map(|name| {
                let kept = about.as_ref().and_then(|about| about.kept.get(name.as_str()).cloned());
                let given_up = kept.as_ref().filter(|kept| kept.standing == StandingWord::GivenUp);
                let hub = about.as_ref().map(|about| about.pid);
                Ok(Member {
                    holder: holder(&self.paths, &name)?,
                    row: rows.iter().find(|row| row.agent == name).cloned(),
                    order: orders.iter().find(|order| order.agent == name).cloned(),
                    given_up: given_up.and_then(|_| cause::of(&self.paths, &name, hub)),
                    kept,
                    name,
                })
            })
            .collect()
    }

    /// Returns the agents that are meant, as they stand now. `all` chooses among all there are.
    pub(crate) async fn chosen(
        &self,
        whom: &Chosen,
        all: impl Fn(&Fleet, &Member) -> bool,
    ) -> Result<Vec<Member>, Failure> {
        let members = self.members().await?;
        let Chosen::Named(whom) = whom else {
            return Ok(members.into_iter().filter(|member| all(self, member)).collect());
        };
        let known: Vec<AgentName> = members.iter().map(|member| member.name.clone()).collect();
        let mut chosen = Vec::new();
        for who in whom {
            let name = names::meant(who, &known)?;
            if !known.contains(&name) {
                return Err(configuration::unknown(&name, known.iter()));
            }
            chosen.push(name);
        }
        Ok(members.into_iter().filter(|member| chosen.contains(&member.name)).collect())
    }

    /// Returns whether the configuration has the agent run.
    pub(crate) fn is_enabled(&self, name: &AgentName) -> bool {
        self.loaded.as_ref().is_some_and(|loaded| loaded.enabled().any(|it| it.nick == *name))
    }

    /// Waits until all of these are done or failed, and says on standard error how far each is.
    /// Returns those that failed, and those that were not done in time, each with the reason.
    pub(crate) async fn until(
        &self,
        names: &[AgentName],
        patience: Option<Duration>,
        mut look: impl FnMut(&Member) -> Report,
    ) -> Result<BTreeMap<AgentName, String>, Failure> {
        let clock = clock::system();
        let until = patience.map(|patience| clock.monotonic().saturating_add(patience));
        let mut said = Said::new(names);
        loop {
            let members = self.members().await?;
            let of = members.iter().filter(|member| names.contains(&member.name));
            let told: Vec<(&AgentName, Report)> =
                of.map(|member| (&member.name, look(member))).collect();
            let now = clock.monotonic();
            told.iter().for_each(|(name, told)| said.say(name, told, now));
            let waiting = told.iter().any(|(_, told)| matches!(told, Report::Waiting(_)));
            let late = until.is_some_and(|until| now >= until);
            if !waiting || late {
                let within = patience.unwrap_or_default();
                return Ok(told.into_iter().filter_map(|told| failed(told, within)).collect());
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }
}

/// How the reason begins for an agent that was not ready in time.
pub(crate) const LATE: &str = "not in time";

fn failed((name, told): (&AgentName, Report), within: Duration) -> Option<(AgentName, String)> {
    match told {
        Report::Done(_) => None,
        Report::Waiting(text) => {
            Some((name.clone(), format!("{LATE} ({} s): {text}", within.as_secs())))
        }
        Report::Failed(text) => Some((name.clone(), text)),
    }
}

/// What was printed about each agent, so that nothing is repeated, except a wait that lasts: it is printed again
/// every `SAID_EVERY`.
pub(crate) struct Said {
    last: BTreeMap<AgentName, Last>,
    width: usize,
}

/// What was printed last: since when it is true, and when it was printed.
struct Last {
    text: String,
    since: Duration,
    said: Duration,
}

/// How often a wait in which nothing changes is printed again.
const SAID_EVERY: Duration = Duration::from_secs(15);

impl Said {
    pub(crate) fn new(names: &[AgentName]) -> Self {
        let width = names.iter().map(|name| name.as_str().chars().count()).max().unwrap_or(0);
        Self { last: BTreeMap::new(), width }
    }

    /// Prints the progress if it is news; `now` is monotonic.
    pub(crate) fn say(&mut self, name: &AgentName, told: &Report, now: Duration) {
        if let Some(text) = self.news(name, told, now) {
            output::note(&format!("{:<width$}  {text}", name.as_str(), width = self.width));
        }
    }

    fn news(&mut self, name: &AgentName, told: &Report, now: Duration) -> Option<String> {
        let (Report::Done(text) | Report::Waiting(text) | Report::Failed(text)) = told;
        let waits = matches!(told, Report::Waiting(_));
        match self.last.get_mut(name).filter(|last| last.text == *text) {
            None => {
                let last = Last { text: text.clone(), since: now, said: now };
                self.last.insert(name.clone(), last);
                Some(text.clone())
            }
            Some(last) if waits && now.saturating_sub(last.said) >= SAID_EVERY => {
                last.said = now;
                Some(format!("{text}, for {} s", now.saturating_sub(last.since).as_secs()))
            }
            Some(_) => None,
        }
    }
}

impl Member {
    /// Returns the generation of its last daemon.
    pub(crate) fn epoch(&self) -> Epoch {
        self.row.as_ref().map_or(Epoch(0), |row| row.epoch)
    }

    /// Returns its daemon's process, if it runs and has said its name.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.holder.as_ref().and_then(|holder| holder.pid)
    }

    pub(crate) fn runs(&self) -> bool {
        self.holder.is_some()
    }

    /// Returns whether an order keeps it down.
    pub(crate) fn is_stopped(&self) -> bool {
        self.order.as_ref().is_some_and(|order| !order.is_up())
    }

    pub(crate) fn is_in_turn(&self) -> bool {
        self.runs() && self.row.as_ref().is_some_and(AgentRow::in_turn)
    }

    /// Returns whether `resume` changes anything for it: it is paused or parked, or waits for a login.
    pub(crate) fn is_held(&self) -> bool {
        self.row.as_ref().is_some_and(|row| !row.pauses.is_empty() || row.is_parked())
            || self.note().needs_login.is_some()
    }

    /// Returns whether the hub that keeps it has not seen its order yet.
    fn is_news(&self) -> bool {
        match (&self.kept, &self.order) {
            (Some(kept), Some(order)) => order.given_at().0 > kept.ordered_at,
            (None, _) | (_, None) => false,
        }
    }

    fn note(&self) -> StatusNote {
        let text = self.row.as_ref().and_then(|row| row.status_json.as_deref());
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Returns whether its present or last daemon has had a turn.
    pub(crate) fn has_worked(&self) -> bool {
        self.note().turn_count > 0
    }

    /// Returns the backend of its present or last daemon, if that has said it.
    pub(crate) fn runtime(&self) -> Option<String> {
        self.note().runtime
    }

    /// Returns `in a turn`, with its message if that is known.
    fn turn(&self) -> String {
        match self.note().task.and_then(|task| task.message) {
            Some(message) => format!("in a turn on {message}"),
            None => "in a turn".to_owned(),
        }
    }

    /// Says how far the end of its daemon is.
    pub(crate) fn end(&self) -> Report {
        let starting = self.kept.as_ref().is_some_and(|kept| match kept.standing {
            StandingWord::Starting | StandingWord::Stopping => true,
            StandingWord::Up
            | StandingWord::Waiting
            | StandingWord::Stopped
            | StandingWord::GivenUp => false,
        });
        match (self.runs(), self.is_in_turn()) {
            // A hub that has not seen the order may be about to start it.
            (false, _) if starting || self.is_news() => Report::Waiting("ends".to_owned()),
            (false, _) => Report::Done("stopped".to_owned()),
            (true, true) => Report::Waiting(format!("{}, which has 20 s to finish", self.turn())),
            (true, false) => Report::Waiting("ends".to_owned()),
        }
    }

    /// Says how far the start of a daemon is that is later than this epoch, and ready since then.
    pub(crate) fn start(&self, after: Epoch, since: UnixMicros) -> Report {
        if let Some(failed) = self.failure() {
            return Report::Failed(failed);
        }
        let Some(row) = self.row.as_ref().filter(|row| self.runs() && row.epoch > after) else {
            return Report::Waiting(self.before());
        };
        if self.pid().map(i64::from) != Some(row.pid) {
            return Report::Waiting("starting".to_owned());
        }
        // It may have been ready once: now it answers nobody.
        let note = self.note();
        if let Some(hint) = note.needs_login {
            return Report::Failed(format!("its backend needs a login: {hint}"));
        }
        if row.is_parked() {
            let why = note.parked.unwrap_or_else(|| "its backend died too often".to_owned());
            let mut then = format!("fix that, then `gangline resume {}`", self.name);
            if let Some(configured) = &note.configured_runtime {
                then.push_str(&format!(
                    "; or `gangline restart {} --runtime {configured}` goes back to the configured \
                     backend",
                    self.name
                ));
            }
            return Report::Failed(format!("parked: {}; {then}", show::text::one_line(&why)));
        }
        if row.ready_at.is_some_and(|at| at >= since) {
            return Report::Done(format!("ready, process {}", row.pid));
        }
        let one_line = show::text::one_line;
        let said = note.start_notice.map(|said| format!("starting: {}", one_line(&said)));
        let failed = said.or(note
            .last_failure
            .map(|why| format!("starting again; its last start failed: {}", one_line(&why))));
        Report::Waiting(match row.known_phase() {
            Some(AgentPhase::Idle | AgentPhase::Working) => "joining".to_owned(),
            Some(
                AgentPhase::Down
                | AgentPhase::Starting
                | AgentPhase::Interrupting
                | AgentPhase::Parked,
            )
            | None => failed.unwrap_or_else(|| "starting".to_owned()),
        })
    }

    /// A failure that waiting does not fix.
    fn failure(&self) -> Option<String> {
        let kept = self.kept.as_ref()?;
        if self.is_news() {
            return None;
        }
        match (kept.standing, kept.code) {
            (StandingWord::GivenUp, _) if self.given_up.is_some() => self.given_up.clone(),
            (StandingWord::GivenUp, Some(code)) => {
                Some(format!("ended with exit code {code} and is not started again"))
            }
            (StandingWord::GivenUp, None) => Some("is not started again".to_owned()),
            (
                StandingWord::Up
                | StandingWord::Starting
                | StandingWord::Waiting
                | StandingWord::Stopping
                | StandingWord::Stopped,
                _,
            ) => None,
        }
    }

    /// Says what happens before the daemon that is waited for is there.
    fn before(&self) -> String {
        if self.is_in_turn() {
            return self.turn();
        }
        match self.kept.as_ref().map(|kept| (kept.standing, kept.code)) {
            Some((StandingWord::Waiting, Some(code))) if !self.runs() => {
                format!("ended with exit code {code}; starts again")
            }
            Some((StandingWord::Stopping, _)) => "ends".to_owned(),
            Some((StandingWord::Up, _)) if self.runs() && self.row.is_some() => {
                "waits to be restarted".to_owned()
            }
            // One that has never begun is not the one before.
            Some(_) | None if self.runs() && self.row.is_some() => "ends".to_owned(),
            Some(_) | None => "starting".to_owned(),
        }
    }
}

/// Returns the hub that runs on these paths.
pub(crate) fn hub(paths: &Paths) -> Result<Option<Hub>, Failure> {
    about::running(paths).map_err(|error| {
        Failure::environment(error).doing(format!("cannot ask for {}", paths.hub_lock().display()))
    })
}

/// Returns the hub that runs. A new hub needs a moment to report what it keeps, and a killed one
/// releases its lock with its last thread: waits for that, up to [`SETTLED`].
pub(crate) async fn settled(paths: &Paths) -> Result<Option<Hub>, Failure> {
    let clock = clock::system();
    let until = clock.monotonic() + SETTLED;
    let mut looks = 0_u32;
    loop {
        match hub(paths)? {
            Some(hub) if hub.about.is_none() && clock.monotonic() < until => {
                looks += 1;
                // Most are over before anybody asks what goes on.
                if looks == 2 {
                    let text =
                        format!("waiting for a hub that is starting or stopping: {}", hub.holder);
                    output::note(&text);
                }
                tokio::time::sleep(LOOK_EVERY).await;
            }
            settled => return Ok(settled),
        }
    }
}

/// Returns the failure of a command that needs to speak to this hub, which has said nothing.
pub(crate) fn mute(hub: &Hub) -> Failure {
    Failure::user(format!("a hub runs already and does not answer: {}", hub.holder))
        .hint("see what it is with `gangline doctor`")
}

/// Returns who holds the lock of an agent.
pub(crate) fn holder(paths: &Paths, name: &AgentName) -> Result<Option<Holder>, Failure> {
    probe(paths.agent_lock(name.folded()))
}

/// Returns the agent's row and who holds its lock, before the rest of [`store::facts`] is known.
pub(crate) async fn seen(
    store: &Store,
    paths: &Paths,
    agent: &AgentName,
) -> Result<Facts, Failure> {
    let row = store.agent(agent).await?;
    Ok(Facts::new(agent.clone(), row, holder(paths, agent)?))
}

fn probe(path: PathBuf) -> Result<Option<Holder>, Failure> {
    lock::probe(&path).map_err(|error| {
        Failure::environment(error).doing(format!("cannot ask for {}", path.display()))
    })
}

/// Sends a signal to the holder of a lock. A holder that has ended meanwhile is not a failure.
pub(crate) fn signal(holder: &Holder, signal: Signal) -> Result<(), Failure> {
    let (Some(pid), Some(start)) = (holder.pid, holder.start_time) else { return Ok(()) };
    proc::signal_exact(pid, start, signal)
        .map(drop)
        .map_err(|error| Failure::environment(error).doing(format!("cannot signal process {pid}")))
}

/// Returns the failure of a command that left some agents as they should not be.
pub(crate) fn left_undone(paths: &Paths, failed: &BTreeMap<AgentName, String>) -> Option<Failure> {
    let (first, why) = failed.iter().next()?;
    let names: Vec<&str> = failed.keys().map(AgentName::as_str).collect();
    let text = match names.as_slice() {
        [_] => format!("{first}: {why}"),
        _ => format!("not done: {}", names.join(", ")),
    };
    let log = paths.agent_dir(first.folded()).join("daemon.log");
    let failure = Failure::user(text).hint(format!("its log is {}", log.display()));
    Some(match store::full(paths) {
        Some(full) => failure.hint(full.sentence()),
        None => failure,
    })
}
