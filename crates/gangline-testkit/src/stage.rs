//! A hub with agents of one's own and a scripted model behind them.

use std::os::{
    linux::net::SocketAddrExt as _,
    unix::net::{SocketAddr, UnixListener},
};
use std::sync::atomic::{AtomicU16, Ordering};
use std::{fs, net::TcpListener, process::Stdio};

use nix::sys::signal::Signal;

use crate::{
    irc::IrcPeer,
    wait::eventually,
    world::{Ran, Running, World},
};

/// Returns a loopback port that nobody listens on. Not one of those that the system gives to
/// outgoing connections, so it stays free while a server is down. No other test gets it while this
/// process lives.
///
/// # Panics
/// When there is none.
#[must_use]
pub fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let process = u16::try_from(std::process::id() % 2200).unwrap();
    (0..2200)
        .map(|_| 10_000 + (process * 10 + NEXT.fetch_add(1, Ordering::SeqCst)) % 22_000)
        .find(|port| is_ours(*port) && TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("a free port")
}

/// Takes the port's name for as long as this process lives. Two tests whose process ids are far
/// apart look at the same ports, and one may find a port free while the other's server is down.
fn is_ours(port: u16) -> bool {
    let name = SocketAddr::from_abstract_name(format!("gangline-test-port-{port}")).unwrap();
    UnixListener::bind_addr(&name).map(std::mem::forget).is_ok()
}

/// Records that a test cannot run here, in the file that `GANGLINE_SKIPPED` names.
///
/// # Panics
/// When the file cannot be written.
pub fn skip(test: &str, why: &str) {
    use std::io::Write as _;
    eprintln!("skipped: {test}: {why}");
    let Some(path) = std::env::var_os("GANGLINE_SKIPPED") else { return };
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    writeln!(file.unwrap(), "{test}: {why}").unwrap();
}

/// Returns whether the tests run as root, who may become somebody else.
#[must_use]
pub fn is_root() -> bool {
    nix::unistd::geteuid().is_root()
}

/// A world with a configuration and a running stand-in; the hub is started by the test.
pub struct Stage {
    /// Where everything lies.
    pub world: World,
    /// The configuration.
    pub config: String,
    /// Where IRC is, `host:port`.
    pub irc: String,
    /// The model.
    pub standin: Running,
}

impl Stage {
    /// Prepares `agents`: their nicks, all in `#general`, each with the model `standin-<nick>`.
    /// `script` is the stand-in's, the guide's sentences without one; `more` is YAML of the top
    /// level, `each` YAML of every agent.
    ///
    /// # Panics
    /// When something cannot be started.
    #[must_use]
    pub fn new(
        binary: &str,
        agents: &[&str],
        script: Option<&str>,
        (more, each): (&str, &str),
    ) -> Self {
        let world = World::new(binary);
        let mut args = vec!["standin", "serve", "--listen", "127.0.0.1:0"];
        let script = script.map(|text| world.file("script.yaml", text));
        if let Some(script) = &script {
            args.extend(["--script", script]);
        }
        let standin = world.start(&args);
        let model = eventually("the stand-in's address", || {
            let text = standin.output();
            let rest = text.split_once("http://")?.1;
            Some(rest.split_once(':')?.1.split_once(':')?.0.to_owned())
        });
        let port = free_port();
        let server = agents[0].split_once('-').unwrap().0;
        let work = world.path("work");
        fs::create_dir_all(&work).unwrap();
        let mut yaml = format!(
            "server:\n  name: {server}\n  host: 127.0.0.1\n  port: {port}\n{more}\nagents:\n"
        );
        for nick in agents {
            yaml.push_str(&format!(
                "  - nick: {nick}\n    agent: native\n    directory: {}\n    model: \
                 standin-{nick}\n    base_url: http://127.0.0.1:{model}\n",
                work.display(),
            ));
            each.lines().for_each(|line| yaml.push_str(&format!("    {line}\n")));
        }
        let config = world.file("agents.yaml", &yaml);
        Self { world, config, irc: format!("127.0.0.1:{port}"), standin }
    }

    /// Returns the arguments of `gangline up`.
    #[must_use]
    pub fn up_args(&self) -> Vec<&str> {
        vec!["--config", &self.config, "up", "--restart-delay-max", "1"]
    }

    /// Starts the hub and waits until every agent is ready.
    ///
    /// # Panics
    /// When it does not get ready.
    #[must_use]
    pub fn up(&self) -> Running {
        self.world.start_ready(&self.up_args())
    }

    /// Starts the hub with more variables and waits for nothing.
    #[must_use]
    pub fn start(&self, env: &[(&str, &str)]) -> Running {
        self.world.start_with(env, &self.up_args())
    }

    /// Runs `gangline up` to its end, which must come by itself.
    ///
    /// # Panics
    /// When it stays.
    #[must_use]
    pub fn up_ends(&self) -> Ran {
        let mut command = self.world.command(&self.up_args());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        eventually("`up` to end by itself", || child.try_wait().unwrap());
        Ran::from(child.wait_with_output().unwrap())
    }

    /// Lets the model answer nobody until [`Self::release_model`]: a turn that begins stays open for
    /// as long as the test needs it.
    ///
    /// # Panics
    /// When the model does not stand still.
    pub fn hold_model(&self) {
        self.standin.signal(Signal::SIGSTOP);
        self.standin.stands_still();
    }

    /// Lets the model answer again, what waits first.
    pub fn release_model(&self) {
        self.standin.signal(Signal::SIGCONT);
    }

    /// Returns a person of the installation, in `#general`, who hears their own lines.
    #[must_use]
    pub fn member(&self, nick: &str) -> IrcPeer {
        let mut peer = IrcPeer::connect_with(&self.irc, (nick, None), CAPS);
        peer.join("#general");
        peer
    }

    /// Returns the owner, in `#general`.
    ///
    /// # Panics
    /// When there is no token yet.
    #[must_use]
    pub fn owner(&self, nick: &str) -> IrcPeer {
        let password = format!("owner:{}", self.token());
        let mut peer = IrcPeer::connect_with(&self.irc, (nick, Some(&password)), CAPS);
        peer.join("#general");
        peer
    }

    /// Returns the owner's token.
    ///
    /// # Panics
    /// When there is none yet.
    #[must_use]
    pub fn token(&self) -> String {
        let text = fs::read_to_string(self.world.state().join("owner.token")).unwrap();
        text.trim().to_owned()
    }

    /// Asks the store of the agents.
    #[must_use]
    pub fn query(&self, sql: &'static str) -> Vec<String> {
        crate::database::query(&self.world.state().join("gangline.db"), sql)
    }
}

/// What the stage's people can: read stamps, hear themselves, read history.
const CAPS: &str = "message-tags server-time batch echo-message draft/chathistory";
