//! Agents on IRC servers that are not ours: real ngIRCd and InspIRCd processes. ngIRCd knows no
//! accounts, no ids and no history; InspIRCd has what its modules give it.
//!
//! Here are the stage and what any server must bear; one module for each thing that may go wrong.

use std::time::Duration;

use gangline_testkit::{
    Cable, Inspircd, IrcPeer, Ircd, Ngircd, Running, Stage, eventually, irc, ircd, ircd::Link,
    stage,
};

mod accounts;
mod history;
mod nicks;
mod oddities;
mod pace;
mod plain;
mod private;
mod restart;
mod rooms;
mod split;

const ADA: &str = "fx-ada";
const FOREIGN: &str = "network: {embedded: false, trust_nicks: true}";

/// A server with what a test needs of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// ngIRCd: nothing beyond the protocol of 1993.
    Ngircd,
    /// InspIRCd without a module.
    Inspircd,
    /// InspIRCd with every extension that Debian's version has.
    Ircv3,
}

impl Kind {
    fn start(self, stage: &Stage) -> Ircd {
        self.start_at(stage, &stage.irc)
    }

    fn start_at(self, stage: &Stage, address: &str) -> Ircd {
        match self {
            Self::Ngircd => Ngircd::default().start(&stage.world, address),
            Self::Inspircd => Inspircd::default().start(&stage.world, address),
            Self::Ircv3 => {
                let server = Inspircd { modules: ircd::IRCV3, ..Inspircd::default() };
                server.start(&stage.world, address)
            }
        }
    }

    /// Whether the test must be passed over; says so.
    fn is_missing(self, test: &str) -> bool {
        let program = match self {
            Self::Ngircd => "ngircd",
            Self::Inspircd | Self::Ircv3 => "inspircd",
        };
        let missing = !ircd::is_there(program);
        if missing {
            let why = format!("{program} is not installed (Debian package `{program}`)");
            stage::skip(&format!("foreign::{test}"), &why);
        }
        missing
    }
}

fn ngircd_is_missing(test: &str) -> bool {
    Kind::Ngircd.is_missing(test)
}

fn stage() -> Stage {
    Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, (FOREIGN, ""))
}

/// A person on the foreign server, who has joined first and so is the room's operator.
fn person(stage: &Stage, nick: &str) -> IrcPeer {
    person_at(&stage.irc, nick)
}

fn person_at(address: &str, nick: &str) -> IrcPeer {
    let mut peer = IrcPeer::connect_with(address, (nick, None), "multi-prefix");
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

/// Everything that `from` has said to `target` so far, as the peer heard it.
fn said_by(peer: &IrcPeer, from: &str, target: &str) -> Vec<String> {
    let said = |line: &String| {
        let said = irc::said(line)?;
        (said.from == from && said.target.eq_ignore_ascii_case(target))
            .then(|| said.text.to_owned())
    };
    peer.lines().iter().filter_map(said).collect()
}

/// What the status says of the agent's trouble with IRC; empty without one.
fn trouble(stage: &Stage) -> String {
    let trouble = "SELECT coalesce(json_extract(status_json, '$.irc'), '') FROM agents";
    stage.query(trouble).concat()
}

/// Until the agent has told its operator so: in the log, as an event, and in its status, where it
/// stands for as long as it is so. Returns the log.
fn tells_its_operator(stage: &Stage, part: &str) -> String {
    let log = told_its_operator(stage, part);
    eventually(&format!("`{part}` in the agent's status"), || {
        trouble(stage).contains(part).then_some(())
    });
    let status = stage.world.run(&["status"]).ok();
    assert!(status.contains(part), "no `{part}` in {status}");
    log
}

/// The same for what may be over by now: in the log and as an event. Returns the log.
fn told_its_operator(stage: &Stage, part: &str) -> String {
    let agents = stage.world.state().join("agents");
    let log = eventually(&format!("`{part}` in the daemon's log"), || {
        let agent = std::fs::read_dir(&agents).ok()?.next()?.ok()?;
        let text = std::fs::read_to_string(agent.path().join("daemon.log")).ok()?;
        text.contains(part).then_some(text)
    });
    eventually(&format!("`{part}` as an event"), || {
        let notices = stage.query("SELECT payload FROM events WHERE kind = 'notice'");
        notices.iter().any(|notice| notice.contains(part)).then_some(())
    });
    let logs = stage.world.run(&["logs"]).ok();
    assert!(logs.contains(part), "no `{part}` in {logs}");
    log
}

/// Until the status speaks of no trouble with IRC.
fn tells_of_no_trouble(stage: &Stage) {
    eventually("a status without a trouble", || trouble(stage).is_empty().then_some(()));
    let status = stage.world.run(&["status"]).ok();
    assert!(!status.contains("IRC:"), "{status}");
}

/// Asks for something, and waits until the agent is at it. It is until the model goes on.
fn at_work(stage: &Stage, alice: &mut IrcPeer) {
    stage.standin.hold();
    alice.say("#general", "@fx-ada say exactly worked");
    eventually("the turn", || {
        let sql = "SELECT count(*) FROM messages WHERE state = 'in_turn'";
        (stage.query(sql) == ["1"]).then_some(())
    });
}

/// Lets the model go on, and waits until its answer is to be said.
fn worked(stage: &Stage) {
    stage.standin.go_on();
    eventually("the answer in the outbox", || {
        stage.query("SELECT state FROM outbox WHERE body = 'worked'").pop()
    });
}

/// Asks something and hears the answer, which shows that all is well.
fn asks(alice: &mut IrcPeer, word: &str) {
    alice.say("#general", &format!("@fx-ada say exactly {word}"));
    alice.hears(ADA, "#general", word);
}

/// Until every line of the outbox is confirmed. When one is not, shows them and the daemon's log.
fn all_confirmed(stage: &Stage) {
    let open = "SELECT body || ': ' || state FROM outbox WHERE state <> 'confirmed'";
    let wait = || {
        eventually("every line confirmed", || stage.query(open).is_empty().then_some(()));
    };
    if let Err(panic) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(wait)) {
        let rows = "SELECT body || ': ' || state || ' ' || coalesce(why, '') FROM outbox";
        let log = stage.world.state().join("agents").join(ADA).join("daemon.log");
        let log = std::fs::read_to_string(log).unwrap_or_default();
        println!("outbox: {:#?}\n{log}", stage.query(rows));
        std::panic::resume_unwind(panic);
    }
}

/// R0-36, R1-01: on a server without any extension a mention is answered, in the room and in
/// private.
#[test]
fn a_mention_is_answered_on_a_foreign_server() {
    if ngircd_is_missing("a_mention_is_answered") {
        return;
    }
    let stage = stage();
    let _server = Kind::Ngircd.start(&stage);
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
    if ngircd_is_missing("an_agent_comes_back") {
        return;
    }
    let stage = stage();
    let address = format!("127.0.0.1:{}", stage::free_port());
    let mut server = Kind::Ngircd.start_at(&stage, &address);
    let cable = Cable::between(&stage.irc, &address);
    let mut alice = person_at(&address, "alice");
    let _hub = up(&stage, &mut alice);
    at_work(&stage, &mut alice);
    cable.cut();
    server.kill();
    worked(&stage);
    server.run();
    let mut alice = person_at(&address, "alice");
    cable.mend();
    alice.hears(ADA, "#general", "worked");
    asks(&mut alice, "back");
}

/// Thrown out, it comes back.
#[test]
fn a_kicked_agent_rejoins() {
    if ngircd_is_missing("a_kicked_agent_rejoins") {
        return;
    }
    let stage = stage();
    let _server = Kind::Ngircd.start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    at_work(&stage, &mut alice);
    alice.send(&format!("KICK #general {ADA} :out"));
    alice.wait("the KICK", |line| (irc::command(line) == "KICK").then_some(()));
    stage.standin.go_on();
    joins(&mut alice, ADA);
    alice.hears(ADA, "#general", "worked");
    alice.say("#general", "@fx-ada say exactly again");
    alice.hears(ADA, "#general", "again");
}

/// Somebody else has its nick: it says nothing under another name, says so to its operator, and
/// answers under its own once that is free.
#[test]
fn an_agent_whose_nick_is_taken_says_nothing_under_another() {
    if ngircd_is_missing("an_agent_whose_nick_is_taken") {
        return;
    }
    let stage = stage();
    let _server = Kind::Ngircd.start(&stage);
    let mut squatter = person(&stage, ADA);
    let mut alice = person(&stage, "alice");
    let _hub = stage.start(&[]);
    joins(&mut alice, "fx-ada_");
    alice.say("#general", "@fx-ada say exactly who am I");
    eventually("the answer in the outbox", || {
        let sql = "SELECT state FROM outbox WHERE body LIKE '%who am I%'";
        stage.query(sql).pop()
    });
    tells_its_operator(&stage, "connected as fx-ada_, and silent until it is free");
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
    if ngircd_is_missing("a_nick_alone_is_a_stranger") {
        return;
    }
    let more = "network: {embedded: false}";
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &[ADA], None, (more, ""));
    let _server = Kind::Ngircd.start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = up(&stage, &mut alice);
    alice.say("#general", "@fx-ada say exactly stolen");
    alice.hears(ADA, "alice", "I know nobody called ~alice");
    // A word of hers is no order, and she has been told.
    alice.say("#general", "@fx-ada pause");
    assert_eq!(stage.query("SELECT count(*) FROM messages"), ["0"]);
    let asked = ["--config", &stage.config, "prompt", ADA, "say exactly still here", "--wait"];
    let answer = stage.world.run(&asked).ok();
    assert!(answer.contains("still here"), "{answer}");
    assert_eq!(stage.query("SELECT DISTINCT origin FROM messages"), ["cli"]);
}

/// A nick is no proof, and yet two agents of one installation do not talk for ever.
#[test]
fn two_agents_on_a_foreign_server_stop_at_the_hop_limit() {
    if ngircd_is_missing("two_agents") {
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
    let _server = Kind::Ngircd.start(&stage);
    let mut alice = person(&stage, "alice");
    let _hub = stage.up();
    alice.say("#general", "@fx-ada begin");
    eventually("a held row", || {
        (stage.query("SELECT count(*) FROM messages WHERE state = 'held'") == ["1"]).then_some(())
    });
    let rows = eventually("everything settled", || {
        let open = "SELECT count(*) FROM messages WHERE state IN ('accepted', 'in_turn')";
        let rows = "SELECT tier || ' ' || hops || ' ' || state FROM messages ORDER BY id";
        (stage.query(open)[0] == "0").then(|| stage.query(rows))
    });
    let mut wanted = vec!["member 0 answered".to_owned()];
    wanted.extend((1..=8).map(|hops| format!("agent {hops} answered")));
    wanted.push("agent 9 held".to_owned());
    assert_eq!(rows, wanted);
    let roots = "SELECT DISTINCT cause_root FROM messages WHERE hops > 0";
    assert_eq!(stage.query(roots), ["1"], "all come from what alice said");
    alice.hears(ADA, "#general", "m1 was passed on 9 times from agent to agent");
}
