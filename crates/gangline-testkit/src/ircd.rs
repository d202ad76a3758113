//! Foreign IRC servers: real ngIRCd and InspIRCd processes, configured by a test, on loopback.
//!
//! Each has a folder of its own in a [`World`], is ended by its own process, and when it is
//! dropped. Start at [`Ngircd::start`] and [`Inspircd::start`].

use std::{
    fs::{self, File},
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use crate::{
    irc::{self, IrcPeer},
    wait::eventually,
    world::World,
};

/// The name and the password of the operator that every server knows.
pub const OPER: (&str, &str) = ("root", "toor");

/// What InspIRCd needs so that it offers every extension that Debian's version has.
pub const IRCV3: &[&str] = &[
    "cap",
    "ircv3",
    "ircv3_accounttag",
    "ircv3_batch",
    "ircv3_capnotify",
    "ircv3_ctctags",
    "ircv3_echomessage",
    "ircv3_labeledresponse",
    "ircv3_msgid",
    "ircv3_servertime",
];

/// Returns whether the program can be started. Debian keeps servers where a user's PATH may not
/// lead.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "the far side of a test")]
pub fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// A server that runs, or ran.
pub struct Ircd {
    /// Where it listens, `host:port`.
    pub address: String,
    program: &'static str,
    args: Vec<String>,
    home: PathBuf,
    log: PathBuf,
    child: Option<Child>,
}

impl Ircd {
    fn start(world: &World, address: &str, program: &'static str, args: Vec<String>) -> Self {
        let port = address.rsplit_once(':').unwrap().1;
        let log = world.path(&format!("{program}-{port}.txt"));
        let home = world.path("");
        let mut server =
            Self { address: address.to_owned(), program, args, home, log, child: None };
        server.run();
        server
    }

    /// Starts it again after [`Self::kill`].
    ///
    /// # Panics
    /// When it cannot be started, or nobody listens in time.
    #[allow(clippy::disallowed_methods, reason = "the far side of a test")]
    pub fn run(&mut self) {
        let log = File::options().create(true).append(true).open(&self.log).unwrap();
        let child = Command::new(self.program)
            .args(&self.args)
            .env("HOME", &self.home)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        // Before it is waited for, so that it ends with a test that fails.
        self.child = Some(child);
        eventually(&format!("{} to listen on {}", self.program, self.address), || {
            if let Some(Ok(Some(status))) = self.child.as_mut().map(Child::try_wait) {
                let log = fs::read_to_string(&self.log).unwrap_or_default();
                panic!("{} ended with {status}:\n{log}", self.program);
            }
            TcpStream::connect(&self.address).ok()
        });
    }

    /// Ends it without a word to anybody.
    pub fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Returns its process.
    ///
    /// # Panics
    /// When it does not run.
    #[must_use]
    pub fn pid(&self) -> i32 {
        let child = self.child.as_ref().expect("a server that runs");
        i32::try_from(child.id()).unwrap()
    }

    /// Returns an operator of the server, who is in no channel.
    #[must_use]
    pub fn oper(&self, nick: &str) -> IrcPeer {
        let mut peer = IrcPeer::connect_with(&self.address, (nick, None), "multi-prefix");
        peer.send(&format!("OPER {} {}", OPER.0, OPER.1));
        peer.wait("to be an operator", |line| (irc::command(line) == "381").then_some(()));
        peer
    }
}

impl Drop for Ircd {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A server to link with.
pub struct Link {
    /// Its name.
    pub name: String,
    /// Where it is asked for the link; nothing = it asks.
    pub address: Option<String>,
}

/// An ngIRCd to be started.
pub struct Ngircd<'a> {
    /// Its name, with a dot.
    pub name: &'a str,
    /// `MaxNickLength`; 9 without a configuration.
    pub nick_length: u32,
    /// `MaxPenaltyTime`; -1 without a configuration: lines are slowed down as the server likes.
    pub penalty: i32,
    /// More lines for `[Limits]`.
    pub limits: &'a str,
    /// More lines for `[Options]`.
    pub options: &'a str,
    /// Servers to link with.
    pub links: &'a [Link],
}

impl Default for Ngircd<'_> {
    fn default() -> Self {
        Self {
            name: "irc.foreign.test",
            nick_length: 20,
            penalty: 0,
            limits: "MaxConnectionsIP = 0",
            options: "",
            links: &[],
        }
    }
}

impl Ngircd<'_> {
    /// Starts it and waits until it listens.
    ///
    /// # Panics
    /// When it does not.
    #[must_use]
    pub fn start(&self, world: &World, address: &str) -> Ircd {
        let (host, port) = address.rsplit_once(':').unwrap();
        let mut config = format!(
            "[Global]\nName = {}\nInfo = foreign\nListen = {host}\nPorts = {port}\nMotdPhrase = \
             hello\n[Limits]\nMaxNickLength = {}\nMaxPenaltyTime = {}\nConnectRetry = \
             5\n{}\n[Options]\nDNS = no\nIdent = no\nPAM = no\nOperCanUseMode = \
             yes\nSyslogFacility = local1\n{}\n[Operator]\nName = {}\nPassword = {}\n",
            self.name, self.nick_length, self.penalty, self.limits, self.options, OPER.0, OPER.1
        );
        for link in self.links {
            config.push_str(&format!(
                "[Server]\nName = {}\nMyPassword = link\nPeerPassword = link\n",
                link.name
            ));
            if let Some((host, port)) = link.address.as_ref().and_then(|a| a.rsplit_once(':')) {
                config.push_str(&format!("Host = {host}\nPort = {port}\n"));
            }
        }
        let file = world.file(&format!("ngircd-{port}.conf"), &config);
        Ircd::start(world, address, "ngircd", vec!["-n".to_owned(), "-f".to_owned(), file])
    }
}

/// An InspIRCd to be started.
pub struct Inspircd<'a> {
    /// Its name, with a dot.
    pub name: &'a str,
    /// Its three characters in a network.
    pub id: &'a str,
    /// Modules that are loaded, without `m_`.
    pub modules: &'a [&'a str],
    /// More attributes of `<connect>`.
    pub connect: &'a str,
    /// The most connections of one address.
    pub per_address: u32,
    /// More tags.
    pub more: &'a str,
    /// Where linked servers ask, `host:port`, and the servers.
    pub links: Option<(&'a str, &'a [Link])>,
}

impl Default for Inspircd<'_> {
    fn default() -> Self {
        Self {
            name: "irc.foreign.test",
            id: "1AA",
            modules: &[],
            connect: "",
            per_address: 1000,
            more: "",
            links: None,
        }
    }
}

impl Inspircd<'_> {
    /// Starts it and waits until it listens.
    ///
    /// # Panics
    /// When it does not.
    #[must_use]
    pub fn start(&self, world: &World, address: &str) -> Ircd {
        let port = address.rsplit_once(':').unwrap().1;
        let folder = world.path(&format!("inspircd-{port}"));
        fs::create_dir_all(&folder).unwrap();
        let file =
            world.file(&format!("inspircd-{port}/inspircd.conf"), &self.config(world, address));
        let args = ["--config", &file, "--runasroot", "--nofork"].map(str::to_owned);
        Ircd::start(world, address, "inspircd", args.to_vec())
    }

    fn config(&self, world: &World, address: &str) -> String {
        let (host, port) = address.rsplit_once(':').unwrap();
        let folder = world.path(&format!("inspircd-{port}"));
        let folder = folder.display();
        let mut config = format!(
            r#"<config format="xml">
<server name="{}" description="foreign" network="ForeignNet" id="{}">
<admin name="a" nick="a" email="a@a.test">
<bind address="{host}" port="{port}" type="clients">
<connect name="main" allow="*" timeout="20" pingfreq="120" hardsendq="1048576" softsendq="16384"
 recvq="10240" localmax="{}" globalmax="1000" resolvehostnames="no" {}>
<class name="All" commands="*" privs="*" usermodes="*" chanmodes="*" snomasks="*">
<type name="All" classes="All">
<oper name="{}" password="{}" host="*@*" type="All">
<dns server="127.0.0.1" timeout="1">
<pid file="{folder}/pid">
<path configdir="{folder}" datadir="{folder}" logdir="{folder}" runtimedir="{folder}">
<log method="file" type="*" level="default" target="{folder}/log.txt">
<options prefixquit="Quit: " defaultmodes="not">
"#,
            self.name, self.id, self.per_address, self.connect, OPER.0, OPER.1
        );
        self.modules
            .iter()
            .for_each(|module| config.push_str(&format!("<module name=\"{module}\">\n")));
        if let Some((at, links)) = self.links {
            let (host, port) = at.rsplit_once(':').unwrap();
            config.push_str(&format!(
                "<module name=\"spanningtree\">\n<bind address=\"{host}\" port=\"{port}\" \
                 type=\"servers\">\n"
            ));
            links.iter().for_each(|link| config.push_str(&inspircd_link(link)));
        }
        config.push_str(self.more);
        config.push('\n');
        config
    }
}

fn inspircd_link(link: &Link) -> String {
    let address = link.address.as_deref().unwrap_or("127.0.0.1:1");
    let (host, port) = address.rsplit_once(':').unwrap();
    let mut text = format!(
        "<link name=\"{}\" ipaddr=\"{host}\" port=\"{port}\" allowmask=\"127.0.0.1\" \
         timeout=\"5\" sendpass=\"link\" recvpass=\"link\">\n",
        link.name
    );
    if link.address.is_some() {
        text.push_str(&format!("<autoconnect period=\"2\" server=\"{}\">\n", link.name));
    }
    text
}
