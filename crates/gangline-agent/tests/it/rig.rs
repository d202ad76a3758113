//! One installation with one agent, Ada, in the test's own process; in [`Rig::two`] Bob is there, too.
//!
//! Start at [`Rig::native`] or [`Rig::program`], then [`Rig::start`]. Everything that is waited for
//! is a fact: a line in a room, a row, a response.

mod backend;
mod container;
mod daemon;
mod hand_clock;
mod ipc;
mod noting;
mod part;
mod real;
pub(crate) mod rows;
mod servers;

use std::{
    collections::BTreeMap,
    fs,
    net::SocketAddr,
    num::NonZeroU32,
    os::unix::fs::PermissionsExt as _,
    path::PathBuf,
    sync::{Arc, mpsc},
    time::Duration,
};

use gangline_agent::{
    Account, Causes, IrcSettings, Opened, Settings, SpendingSettings,
    container::Container,
    watching::{Judge, Watcher, Watching},
};
use gangline_config::{Config, PromptBy};
use gangline_core::{KnownSecret, watch::Limits};
use gangline_hub::credentials;
use gangline_irc::client::Address;
use gangline_os::{clock, lock::FileLock, paths::Paths, process::base_env, secret::Secret};
use gangline_runtime::{
    Runtime, adapters,
    registry::{self, Found},
};
use gangline_testkit::{IrcPeer, eventually_seeing, irc, tls};
use tempfile::TempDir;

use self::servers::{ircd, secret_file, standin};
pub(crate) use self::{
    daemon::Daemon,
    hand_clock::HandClock,
    ipc::Ipc,
    part::{Held, Part, Threads},
    real::Real,
};

/// The agent.
pub(crate) const ADA: &str = "lab-ada";
/// Her colleague.
pub(crate) const BOB: &str = "lab-bob";
/// The room that she is in.
pub(crate) const ROOM: &str = "#general";
/// How long an open turn may take when the daemon is asked to end.
pub(crate) const SETTLE: Duration = Duration::from_secs(20);
/// What people's programs can: read stamps, hear themselves, read history.
const CAPS: &str = "message-tags server-time batch echo-message draft/chathistory";

/// What a scripted program begins with.
const WIRE: &str = include_str!("rig/wire.sh");

/// See the file.
pub(crate) struct Rig {
    pub(crate) clock: Arc<HandClock>,
    config: String,
    container: Option<Container>,
    paths: Paths,
    irc: SocketAddr,
    model: Option<Part<()>>,
    /// The supervisor's model, where it has one of its own.
    judge: Option<Part<()>>,
    /// Where the model is served.
    model_address: Option<String>,
    ircd: Part<()>,
    folder: TempDir,
    /// Where the backend's fields are noted.
    fields: Option<noting::Fields>,
}

impl Rig {
    /// Ada has the native loop and a model that follows this script; `each` is YAML of hers.
    pub(crate) fn native(script: &str, each: &str) -> Self {
        Self::native_with(script, "", each)
    }

    /// As [`Self::native`]; `more` is YAML of the top level.
    pub(crate) fn native_with(script: &str, more: &str, each: &str) -> Self {
        Self::unnamed(script, more, &format!("model: standin\n{each}"))
    }

    /// As [`Self::native_with`], where only `each` may name a model.
    pub(crate) fn unnamed(script: &str, more: &str, each: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (address, model) = standin(script, &folder.path().join(backend::ASKED));
        let keys = format!("agent: native\nbase_url: http://{address}\n{each}");
        let mut rig = Self::new(folder, (more, &keys), Some(model));
        rig.model_address = Some(format!("http://{address}"));
        rig
    }

    /// Ada and Bob have the native loop. A rule of the script knows them by their models,
    /// `standin-lab-ada` and `standin-lab-bob`.
    pub(crate) fn two(script: &str) -> Self {
        let mut rig = Self::unnamed(script, "", &format!("model: standin-{ADA}"));
        let address = rig.model_address.clone().expect("a model");
        rig.configure(BOB, &format!("agent: native\nbase_url: {address}\nmodel: standin-{BOB}"));
        rig
    }

    /// As [`Self::two`], where Ada is a manager, and the configuration is a file.
    pub(crate) fn manager(script: &str) -> Self {
        let mut rig = Self::two(script);
        rig.reconfigure(ADA, "role: manager");
        rig
    }

    /// Gives an agent one more key, for daemons that are started from now on.
    pub(crate) fn reconfigure(&mut self, nick: &str, key: &str) {
        let item = format!("- nick: {nick}\n");
        assert!(self.config.contains(&item), "{}", self.config);
        self.config = self.config.replace(&item, &format!("{item}    {key}\n"));
        fs::write(&self.paths.config_file, &self.config).unwrap();
    }

    /// Lets the model be reached over TLS alone, with a certificate that this system does not trust.
    pub(crate) fn put_model_behind_tls(&mut self) {
        let plain = self.model_address.take().expect("a model");
        let port = tls::before(plain.trim_start_matches("http://"));
        let sealed = format!("https://localhost:{port}");
        self.config = self.config.replace(&plain, &sealed);
        self.model_address = Some(sealed);
    }

    /// Takes the lock that a hub holds: daemons take it for granted that somebody follows orders.
    pub(crate) fn hub_lock(&self) -> FileLock {
        FileLock::try_take(&self.paths.hub_lock(), "gangline hub").unwrap()
    }

    /// Lets half a minute pass.
    pub(crate) fn tick(&self) {
        self.clock.forward(Duration::from_secs(31));
    }

    /// Ada has a program that speaks Claude Code's wire and follows this shell script.
    pub(crate) fn program(body: &str, each: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("claude");
        fs::write(&program, format!("{WIRE}{body}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let keys = format!("agent: claude\ncommand: [\"{}\"]\n{each}", program.display());
        Self::new(folder, ("", &keys), None)
    }

    fn new(folder: TempDir, (more, keys): (&str, &str), model: Option<Part<()>>) -> Self {
        let work = folder.path().join("work");
        fs::create_dir(&work).unwrap();
        let paths = Paths {
            config_file: folder.path().join("agents.yaml"),
            state: folder.path().join("state"),
            runtime: folder.path().join("run"),
        };
        let (irc, ircd) = ircd(&paths);
        let config = format!(
            "server: {{name: lab, host: 127.0.0.1, port: {}}}\n{more}\nagents:\n",
            irc.port(),
        );
        let (clock, container) = (Arc::new(HandClock::new()), None);
        let (judge, model_address, fields) = (None, None, None);
        let mut rig = Self {
            clock,
            config,
            container,
            paths,
            irc,
            model,
            judge,
            model_address,
            ircd,
            folder,
            fields,
        };
        rig.configure(ADA, keys);
        rig
    }

    /// Adds an agent with these keys to the configuration; it works in the folder that all agents share.
    fn configure(&mut self, nick: &str, keys: &str) {
        let work = self.folder.path().join("work");
        let (work, keys) = (work.display(), keys.trim_end().replace('\n', "\n    "));
        let item = format!("  - nick: {nick}\n    directory: {work}\n    {keys}\n");
        self.config.push_str(&item);
    }

    /// Starts a daemon and waits until it takes prompts, or is as ready as it gets.
    pub(crate) fn start(&self) -> Daemon {
        let before = self.epoch();
        let daemon = self.begin(Threads::One);
        self.is_ready_after(before, &daemon);
        daemon
    }

    /// As [`Self::start`], with the root on a thread of its own: no other task can hold it up.
    pub(crate) fn start_with_root_apart(&self) -> Daemon {
        let before = self.epoch();
        let daemon = self.begin(Threads::Two);
        self.is_ready_after(before, &daemon);
        daemon
    }

    /// Starts Bob's daemon, and waits until it takes prompts.
    pub(crate) fn start_bob(&self) -> Daemon {
        let daemon = self.begin_as(BOB, Threads::One);
        self.sees("SELECT ready_at IS NOT NULL FROM agents WHERE agent = 'lab-bob'", &["1"]);
        daemon
    }

    /// As [`Self::start_bob`], after an earlier one.
    pub(crate) fn start_bob_again(&self) -> Daemon {
        let daemon = self.begin_as(BOB, Threads::One);
        self.sees(
            "SELECT epoch || (ready_at IS NOT NULL) FROM agents WHERE agent = 'lab-bob'",
            &["21"],
        );
        daemon
    }

    /// Starts a daemon and waits for nothing.
    pub(crate) fn begin(&self, threads: Threads) -> Daemon {
        self.begin_as(ADA, threads)
    }

    fn begin_as(&self, nick: &str, threads: Threads) -> Daemon {
        let (paths, clock) = (self.paths.clone(), self.clock.clone());
        let settings = self.settings(nick);
        let (tell, syncs) = mpsc::sync_channel(1);
        let part = Part::run("daemon", threads, move || async move {
            let clock: clock::SharedClock = clock;
            match Opened::new(&paths, &settings.agent.nick, &clock).await {
                Ok(opened) => {
                    // Nobody may want to know.
                    let _ = tell.send(opened.syncs());
                    Box::pin(gangline_agent::run(opened, settings)).await
                }
                Err(ended) => ended,
            }
        });
        let socket = self.paths.control_socket(nick);
        Daemon { part, socket, token: self.token(), syncs }
    }

    fn is_ready_after(&self, before: i64, daemon: &Daemon) {
        // Before that the database may be half made.
        drop(daemon.dial());
        eventually_seeing("a daemon that is ready", || {
            let rows = self.query("SELECT epoch || ' ' || (ready_at IS NOT NULL) FROM agents");
            let row = rows.first().cloned().unwrap_or_default();
            if row == format!("{} 1", before + 1) { Ok(()) } else { Err(row) }
        });
    }

    fn epoch(&self) -> i64 {
        match self.paths.database().exists() {
            true => {
                self.query("SELECT epoch FROM agents").first().map_or(0, |it| it.parse().unwrap())
            }
            false => 0,
        }
    }

    #[allow(clippy::too_many_lines, reason = "a line or a few for each setting")]
    fn settings(&self, nick: &str) -> Settings {
        let config: Config = gangline_config::parse(&self.config, "agents.yaml").unwrap();
        let everybody = config.agents.iter().map(|agent| agent.nick.clone()).collect();
        let mut agent =
            config.agents.iter().find(|agent| agent.nick.as_str() == nick).unwrap().clone();
        if let Some(state) = self.container.as_ref().and_then(Container::mounted) {
            agent.directory = state.to_owned();
        }
        let backend = agent.agent.as_ref().unwrap().as_str().to_owned();
        let found = Found::built_in(registry::built_in(&backend).unwrap());
        let password = credentials::load_or_make(&secret_file(&self.paths, nick)).unwrap();
        let child_env: BTreeMap<String, String> = base().chain(agent.env.clone()).collect();
        Settings {
            mark: config.marks()[&agent.nick].clone(),
            everybody,
            owners_only: {
                let only = config.agents.iter().filter(|it| it.prompt == Some(PromptBy::Owners));
                only.map(|it| it.nick.clone()).collect()
            },
            container: self.container.clone(),
            irc: IrcSettings {
                server: Address::Own(self.paths.irc_socket()),
                login: Some((nick.to_owned(), password)),
                trust_nicks: false,
            },
            paths: self.paths.clone(),
            buffer_size: config.buffer_size,
            sleep: config.sleep_of(&agent),
            on_escalation: config.supervisor.on_escalation,
            watchdogs: gangline_core::watchdog::Limits::default(),
            causes: Causes {
                limit: config.turns_per_cause.into(),
                released: config.turns_per_cause.into(),
            },
            spending: SpendingSettings {
                budgets: config.budgets_of(&agent),
                prices: config.price_list(),
                relay_to: config.relays(&agent).then(|| agent.base_url.clone().unwrap()),
                account: Account::default(),
            },
            alerts: Arc::default(),
            clock: self.clock.clone(),
            watching: self.watching(&config),
            make_runtime: self.runtime(&found),
            backend: found,
            instead_of: None,
            child_env,
            server_key: config.mcp.server_key,
            mcp_servers: Vec::new(),
            tool_bridge: Vec::new(),
            hooks: agent.hooks.clone(),
            trusted: None,
            api_key: self.model_address.as_ref().map(|_| Secret::new(real::KEY)),
            model_file: None,
            // What the binary masks by its name, the rig masks wherever it is configured.
            secrets: agent
                .env
                .iter()
                .map(|(name, value)| KnownSecret::new(name, value))
                .chain([KnownSecret::new("owner token", self.token())])
                .collect(),
            agent,
        }
    }

    fn runtime(&self, found: &Found) -> Arc<dyn Fn() -> Box<dyn Runtime> + Send + Sync> {
        let make = adapters::maker(found).unwrap();
        match self.fields.clone() {
            None => Arc::new(make),
            Some(fields) => Arc::new(move || -> Box<dyn Runtime> {
                Box::new(noting::Noting { behind: make(), fields: Arc::clone(&fields) })
            }),
        }
    }

    /// Returns how Ada is watched: by the native loop, if the configuration has a model watch.
    fn watching(&self, config: &Config) -> Watching {
        let supervisor = &config.supervisor;
        let of = |number| NonZeroU32::new(number).unwrap();
        let limits = Limits {
            window_size: of(supervisor.window_size),
            eval_interval: of(supervisor.eval_interval),
            escalation_threshold: of(supervisor.escalation_threshold),
        };
        let by = match &supervisor.agent {
            gangline_config::Watcher::Off => Watcher::Off,
            gangline_config::Watcher::Rules => Watcher::Rules,
            gangline_config::Watcher::Model(backend) => {
                let found = Found::built_in(registry::built_in(backend.as_str()).unwrap());
                Watcher::Model(Box::new(Judge {
                    make_runtime: Arc::new(adapters::maker(&found).unwrap()),
                    backend: found,
                    env: base().chain(supervisor.env.clone()).collect(),
                    command: supervisor.command.clone(),
                    account_dir: None,
                    base_url: supervisor.base_url.clone().or_else(|| self.model_address.clone()),
                    api_key: self.model_address.as_ref().map(|_| Secret::new(real::KEY)),
                    model: supervisor.model().map(str::to_owned),
                    thinking: supervisor.thinking.clone(),
                    prompt: supervisor.prompt.clone(),
                }))
            }
        };
        Watching { limits, by }
    }

    /// Returns a person of the installation, in the room.
    pub(crate) fn member(&self, nick: &str) -> IrcPeer {
        let mut peer = IrcPeer::connect_with(&self.irc.to_string(), (nick, None), CAPS);
        peer.join(ROOM);
        peer
    }

    /// Returns the owner, in the room.
    pub(crate) fn owner(&self, nick: &str) -> IrcPeer {
        let password = format!("owner:{}", self.token());
        let mut peer = IrcPeer::connect_with(&self.irc.to_string(), (nick, Some(&password)), CAPS);
        peer.join(ROOM);
        peer
    }

    fn token(&self) -> String {
        let text = fs::read_to_string(self.paths.state.join("owner.token")).unwrap();
        text.trim().to_owned()
    }

    /// Lets the model answer nobody until the result is dropped.
    pub(crate) fn hold_model(&self) -> Held {
        self.model.as_ref().expect("a model").hold()
    }

    /// Lets the supervisor's own model answer nobody until the result is dropped.
    pub(crate) fn hold_judge(&self) -> Held {
        self.judge.as_ref().expect("a model of the supervisor's").hold()
    }

    /// Makes the chat server stand still until the result is dropped.
    pub(crate) fn hold_server(&self) -> Held {
        self.ircd.hold()
    }

    pub(crate) fn work(&self, file: &str) -> PathBuf {
        self.folder.path().join("work").join(file)
    }

    /// Returns a file in the folder of sockets.
    pub(crate) fn run(&self, file: &str) -> PathBuf {
        self.paths.runtime.join(file)
    }

    /// Returns a file in the folder that the daemon keeps for the agent.
    pub(crate) fn state(&self, file: &str) -> PathBuf {
        self.paths.agent_dir(ADA).join(file)
    }
}

/// Returns the variables that every backend has.
fn base() -> impl Iterator<Item = (String, String)> {
    let text = base_env().into_iter();
    text.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// Returns what the agent said in the room, oldest first.
pub(crate) fn said(peer: &mut IrcPeer) -> Vec<String> {
    let history = peer.history(ROOM);
    let said = history.iter().filter_map(|line| irc::said(line));
    said.filter(|said| said.from == ADA).map(|said| said.text.to_owned()).collect()
}
