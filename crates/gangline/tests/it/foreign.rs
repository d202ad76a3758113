//! Agents on an IRC server that is not ours: a real ngIRCd, which knows no accounts, no ids and no
//! history.

use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

use gangline_testkit::{IrcPeer, Running, Stage, eventually, irc, stage};

const ADA: &str = "fx-ada";
const FOREIGN: &str = "network: {embedded: false, trust_nicks: true}";

/// The server, ended when dropped.
struct Ngircd {
    child: Child,
    config: String,
}

impl Ngircd {
    fn start(stage: &Stage) -> Self {
        let port = stage.irc.rsplit_once(':').unwrap().1;
        let config = stage.world.file(
            "ngircd.conf",
            &format!(
                "[Global]\nName = irc.foreign.test\nInfo = foreign\nListen = 127.0.0.1\nPorts = \
                 {port}\nMotdPhrase = hello\n[Limits]\nMaxNickLength = 20\nConnectRetry = \
                 5\nMaxConnectionsIP = 0\nMaxPenaltyTime = 0\n[Options]\nDNS = no\nIdent = no\nPAM \
                 = no\nSyslogFacility = local1\n[Operator]\nName = root\nPassword = toor\n"
            ),
        );
        Self { child: Self::run(stage, &config), config }
    }

    fn run(stage: &Stage, config: &str) -> Child {
        let log = std::fs::File::create(stage.world.path("ngircd.txt")).unwrap();
        let child = Command::new("ngircd")
            .args(["-n", "-f", config])
            .env("HOME", stage.world.path(""))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        drop(IrcPeer::open(&stage.irc, "knock"));
        child
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn restart(&mut self, stage: &Stage) {
        self.end();
        self.child = Self::run(stage, &self.config);
    }
}

impl Drop for Ngircd {
    fn drop(&mut self) {
        self.end();
    }
}

/// Debian keeps servers where a user's PATH may not lead.
fn ngircd_is_missing(test: &str) -> bool {
    let there = Command::new("ngircd").arg("--version").stdout(Stdio::null()).status().is_ok();
    if !there {
        stage::skip(test, "ngircd is not installed (Debian package `ngircd`)");
    }
    !there
}

fn stage() -> Stage {
    Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, (FOREIGN, ""))
}

/// A person on the foreign server, who has joined first and so is the room's operator.
fn person(stage: &Stage, nick: &str) -> IrcPeer {
    let mut peer = IrcPeer::connect_with(&stage.irc, (nick, None), "multi-prefix");
    peer.join("#general");
    peer
}

fn joins(peer: &mut IrcPeer, nick: &str) {
    peer.wait(&format!("{nick} to join"), |line| {
        let is_it = line.starts_with(&format!(":{nick}!")) && irc::command(line) == "JOIN";
        is_it.then_some(())
    });
}

fn up(stage: &Stage, alice: &mut IrcPeer) -> Running {
    let hub = stage.up();
    joins(alice, ADA);
    hub
}

/// R0-36, R1-01: on a server without any extension a mention is answered, in the room and in
/// private.
#[test]
fn a_mention_is_answered_on_a_foreign_server() {
    if ngircd_is_missing("foreign::a_mention_is_answered") {
        return;
    }
    let stage = stage();
    let _server = Ngircd::start(&stage);
    let mut alice = person(&stage, "alice");
    let mut hub = up(&stage, &mut alice);
    alice.say("#general", "@fx-ada say exactly kumquat");
    alice.hears(ADA, "#general", "kumquat");
    alice.say("#general", "fx-ada: post tangerine");
    alice.hears(ADA, "#general", "tangerine");
    alice.say(ADA, "say exactly in private");
    alice.hears(ADA, "alice", "in private");
    let unconfirmed = "SELECT body FROM outbox WHERE state <> 'confirmed'";
    eventually("every line confirmed", || stage.query(unconfirmed).is_empty().then_some(()));
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
}

/// R1-47: the server dies and comes back: so does the agent, and what waited is said.
#[test]
fn an_agent_comes_back_after_the_server_died() {
    if ngircd_is_missing("foreign::an_agent_comes_back") {
        return;
    }
    let stage = stage();
    let mut server = Ngircd::start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    alice.say("#general", "@fx-ada sleep 2");
    eventually("the turn", || {
        let sql = "SELECT state FROM messages";
        (stage.query(sql) == ["in_turn"]).then_some(())
    });
    server.end();
    eventually("the answer in the outbox", || {
        let sql = "SELECT state FROM outbox WHERE body LIKE 'I worked%'";
        stage.query(sql).pop()
    });
    server.restart(&stage);
    let mut alice = person(&stage, "alice");
    alice.hears(ADA, "#general", "I worked for 2 seconds");
    alice.say("#general", "@fx-ada say exactly back");
    alice.hears(ADA, "#general", "back");
}

/// Thrown out, it comes back.
#[test]
fn a_kicked_agent_rejoins() {
    if ngircd_is_missing("foreign::a_kicked_agent_rejoins") {
        return;
    }
    let stage = stage();
    let _server = Ngircd::start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    alice.say("#general", "@fx-ada sleep 1");
    eventually("the turn", || {
        let sql = "SELECT state FROM messages";
        (stage.query(sql) == ["in_turn"]).then_some(())
    });
    alice.send(&format!("KICK #general {ADA} :out"));
    alice.wait("the KICK", |line| (irc::command(line) == "KICK").then_some(()));
    joins(&mut alice, ADA);
    alice.hears(ADA, "#general", "I worked for 1 second");
    alice.say("#general", "@fx-ada say exactly again");
    alice.hears(ADA, "#general", "again");
}

/// Somebody else has its nick: it says nothing under another name, says so to its operator, and
/// answers under its own once that is free.
#[test]
fn an_agent_whose_nick_is_taken_says_nothing_under_another() {
    if ngircd_is_missing("foreign::an_agent_whose_nick_is_taken") {
        return;
    }
    let stage = stage();
    let _server = Ngircd::start(&stage);
    let mut squatter = person(&stage, ADA);
    let mut alice = person(&stage, "alice");
    let _hub = stage.start(&[]);
    joins(&mut alice, "fx-ada_");
    alice.say("#general", "@fx-ada say exactly who am I");
    eventually("the answer in the outbox", || {
        let sql = "SELECT state FROM outbox WHERE body LIKE '%who am I%'";
        stage.query(sql).pop()
    });
    let log = stage.world.state().join("agents").join(ADA).join("daemon.log");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("the nick is not ours") && log.contains("fx-ada_"), "{log}");
    let spoke = |line: &str| {
        let said = irc::said(line)?;
        said.from.starts_with(ADA).then(|| line.to_owned())
    };
    let spoken = alice.listen(Duration::from_secs(1), spoke);
    assert_eq!(spoken, None, "it speaks under another name");
    squatter.send("QUIT :done");
    alice.hears(ADA, "#general", "who am I");
    let under_another = alice
        .lines()
        .into_iter()
        .find(|line| irc::said(line).is_some_and(|said| said.from.starts_with("fx-ada_")));
    assert_eq!(under_another, None);
}

/// On a server that is not ours a nick is nobody's proof, unless the configuration says so.
#[test]
fn a_nick_alone_is_a_stranger_unless_configured() {
    if ngircd_is_missing("foreign::a_nick_alone_is_a_stranger") {
        return;
    }
    let more = "network: {embedded: false}";
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, (more, ""));
    let _server = Ngircd::start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    alice.say("#general", "@fx-ada say exactly stolen");
    alice.hears(ADA, "alice", "I know nobody called ~alice");
    alice.say("#general", "@fx-ada pause");
    alice.hears(ADA, "#general", "strangers may not operate");
    assert_eq!(stage.query("SELECT count(*) FROM messages"), ["0"]);
}

/// A nick is no proof, and yet two agents of one installation do not talk for ever.
#[test]
fn two_agents_on_a_foreign_server_stop_at_the_hop_limit() {
    if ngircd_is_missing("foreign::two_agents") {
        return;
    }
    let script = "rules:
  - when: {tool: send}
    reply: [text: NO_REPLY]
  - when: {model: standin-fx-ada}
    reply: [tool_use: {name: send, input: {to: '#general', text: '@fx-bob over to you'}}]
  - when: {model: standin-fx-bob}
    reply: [tool_use: {name: send, input: {to: '#general', text: '@fx-ada no, to you'}}]
";
    let agents = [ADA, "fx-bob"];
    let binary = env!("CARGO_BIN_EXE_gangline");
    let stage = Stage::new(binary, &agents, Some(script), (FOREIGN, ""));
    let _server = Ngircd::start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = stage.up();
    alice.say("#general", "@fx-ada begin");
    eventually("a refused row", || {
        (stage.query("SELECT count(*) FROM messages WHERE state = 'refused'") == ["1"])
            .then_some(())
    });
    let rows = eventually("everything settled", || {
        let open = "SELECT count(*) FROM messages WHERE state IN ('accepted', 'in_turn')";
        let rows = "SELECT tier || ' ' || hops || ' ' || state FROM messages ORDER BY id";
        (stage.query(open)[0] == "0").then(|| stage.query(rows))
    });
    let mut wanted = vec!["member 0 answered".to_owned()];
    wanted.extend((1..=8).map(|hops| format!("agent {hops} answered")));
    wanted.push("agent 9 refused".to_owned());
    assert_eq!(rows, wanted);
    let roots = "SELECT DISTINCT cause_root FROM messages WHERE hops > 0";
    assert_eq!(stage.query(roots), ["1"], "all come from what alice said");
}
