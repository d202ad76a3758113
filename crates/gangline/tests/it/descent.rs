//! Whose a process is that an agent started, whatever environment and session it has: it ends with the
//! agent's programs, and what it says the agent says.

use std::fs;

use gangline_testkit::{IrcPeer, Running, Stage, eventually};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

const ADA: &str = "oak-ada";
const BOB: &str = "oak-bob";

/// A process, named so that its pid cannot become another's.
#[derive(Debug, Clone, Copy)]
struct Known {
    pid: u32,
    started: u64,
}

impl Known {
    fn runs(self) -> bool {
        gangline_os::proc::alive(self.pid, self.started)
    }

    fn is_gone(self) {
        eventually("what was left is gone", || (!self.runs()).then_some(()));
    }
}

struct Rig {
    stage: Stage,
    eve: IrcPeer,
    count: u32,
}

impl Rig {
    fn begins(agents: &[&str]) -> (Self, Running) {
        let binary = env!("CARGO_BIN_EXE_gangline");
        let stage = Stage::new(binary, agents, None, ("", "permissions: bypass"));
        let hub = stage.up();
        let eve = stage.member("eve");
        (Self { stage, eve, count: 0 }, hub)
    }

    /// Has ada's shell run a command; returns what it says.
    fn runs(&mut self, command: &str) {
        self.count += 1;
        let done = format!("done-{}", self.count);
        self.eve.say("#general", &format!("@oak-ada run {command}; echo {done}"));
        self.eve.hears(ADA, "#general", &done);
    }

    /// Has ada's shell leave a process of no environment, of a session of its own, whose parents end.
    fn leaves(&mut self) -> Known {
        self.count += 1;
        let file = self.stage.world.path(&format!("left-{}", self.count));
        let script = self.stage.world.file(
            "leave.sh",
            "env -i setsid sh -c 'echo $$ > \"$0\"; exec sleep 1000' \"$1\" </dev/null >/dev/null 2>&1 &\n",
        );
        self.runs(&format!("sh {script} {}", file.display()));
        let pid = eventually("a process that is left", || {
            fs::read_to_string(&file).ok()?.trim().parse().ok()
        });
        let known = Known { pid, started: gangline_os::proc::start_time(pid).unwrap() };
        assert!(known.runs());
        known
    }

    /// Returns the pid of ada's daemon, if one runs.
    fn daemon(&self) -> Option<i32> {
        let listed = self.stage.world.run(&["ps", "--json"]).json();
        let all = listed.as_array().unwrap();
        let pid = all.iter().find(|one| one["nick"] == ADA).unwrap()["pid"].as_i64();
        pid.map(|pid| i32::try_from(pid).unwrap())
    }

    fn gangline(&self, args: &[&str]) -> String {
        let config = ["--config", self.stage.config.as_str()];
        self.stage.world.run(&[&config[..], args].concat()).ok()
    }
}

/// backends F11: by descent, since neither its environment nor its session nor its parent tells whose it is.
#[test]
fn what_an_agents_shell_left_ends_with_its_daemon_however_that_ends() {
    let (mut rig, mut hub) = Rig::begins(&[ADA, BOB]);
    let left = rig.leaves();
    rig.gangline(&["restart", "ada"]);
    left.is_gone();

    let left = rig.leaves();
    let daemon = rig.daemon().unwrap();
    kill(Pid::from_raw(daemon), Signal::SIGKILL).unwrap();
    left.is_gone();
    eventually("another daemon", || rig.daemon().filter(|now| *now != daemon));

    // Bob's daemon leaves what ada's shell started alone.
    let left = rig.leaves();
    rig.gangline(&["restart", "bob"]);
    assert!(left.runs());
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
    left.is_gone();
}

/// What comes from a daemon that was killed after its hub is found by what that daemon recorded.
#[test]
fn what_a_daemon_without_its_hub_left_is_found_by_its_record() {
    let (mut rig, mut hub) = Rig::begins(&[ADA]);
    let left = rig.leaves();
    let record = rig.stage.world.state().join("agents/oak-ada/processes");
    let line = format!("{} {}\n", left.pid, left.started);
    eventually("its record", || fs::read_to_string(&record).ok()?.contains(&line).then_some(()));
    let daemon = rig.daemon().unwrap();
    hub.kill();
    kill(Pid::from_raw(daemon), Signal::SIGKILL).unwrap();
    eventually("the daemon to be gone", || {
        kill(Pid::from_raw(daemon), None).is_err().then_some(())
    });
    assert!(left.runs(), "nobody is there who would end it");
    let mut hub = rig.stage.up();
    left.is_gone();
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
}

/// A client of the chat server that a shell starts; it says what it is told, and prints what it hears.
const CLIENT: &str = "exec 3<>/dev/tcp/127.0.0.1/\"$1\"
cat \"$2\" >&3
while read -r -t 20 line <&3; do
  echo \"$line\"
  case \"$line\" in *\" PONG \"*|ERROR*) break ;; esac
done
";

/// trust F16: a line of a shell begins no new cause, and passes on what its agent was asked with its hops.
#[test]
fn a_shell_on_the_chat_port_speaks_for_its_agents_request() {
    let (mut rig, mut hub) = Rig::begins(&[ADA, BOB]);
    let script = rig.stage.world.file("client.sh", CLIENT);
    let port = rig.stage.irc.rsplit_once(':').unwrap().1.to_owned();
    let heard = rig.stage.world.path("heard").display().to_string();
    let hello = "NICK bot\r\nUSER bot 0 * :bot\r\nJOIN #general\r\n";
    for (how, word) in [("", "plain"), ("env -i ", "bare"), ("env -i setsid -w ", "alone")] {
        let line = format!("PRIVMSG #general :@oak-bob say exactly {word}\r\n");
        let said = format!("{hello}WHOIS bot\r\n{line}PING :end\r\n");
        let said = rig.stage.world.file("said", &said);
        rig.runs(&format!("{how}bash {script} {port} {said} > {heard}"));
        let heard = fs::read_to_string(&heard).unwrap();
        assert!(heard.contains("is trusted as: agent"), "{how}: {heard}");
    }
    // Each line is a message of bob's that eve's request to ada caused, one hop further.
    let sql = "SELECT b.principal || ' ' || b.tier || ' ' || b.hops || ' ' || (b.cause_root = a.id) \
               FROM messages b JOIN messages a ON a.agent = 'oak-ada' AND a.id < b.id \
               WHERE b.agent = 'oak-bob' GROUP BY b.id HAVING a.id = max(a.id)";
    let rows =
        eventually("bob's messages", || Some(rig.stage.query(sql)).filter(|rows| rows.len() == 3));
    assert_eq!(rows, ["~oak-ada agent 1 1"; 3], "{rows:#?}");

    // No password makes it somebody else, right or not.
    let token = rig.stage.token();
    for pass in [token.as_str(), "wrong"] {
        let said = rig.stage.world.file("said", &format!("PASS owner:{pass}\r\n{hello}"));
        rig.runs(&format!("env -i bash {script} {port} {said} > {heard}"));
        let heard = fs::read_to_string(&heard).unwrap();
        assert!(heard.contains("This was started by oak-ada"), "{heard}");
        assert!(!heard.contains(" 001 "), "{heard}");
    }
    // A person's client is a member as before.
    rig.eve.say("#general", "@oak-bob say exactly a person");
    rig.eve.hears(BOB, "#general", "a person");
    let rows = rig.stage.query(
        "SELECT principal || ' ' || tier || ' ' || hops FROM messages WHERE agent = 'oak-bob' \
         ORDER BY id DESC LIMIT 1",
    );
    assert_eq!(rows, ["~eve member 0"]);
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
}

/// trust F16: neither the client nor the daemon lets one agent's shell be another agent, whatever it sets.
#[test]
fn a_shell_is_no_other_agent_by_gangline_channel() {
    let (mut rig, mut hub) = Rig::begins(&[ADA, BOB]);
    let world = &rig.stage.world;
    let home = world.path("");
    let home = home.display().to_string();
    let home = home.trim_end_matches('/');
    let bare = format!(
        "env -i PATH=/usr/bin:/bin HOME={home} XDG_STATE_HOME={home}/state \
         XDG_CONFIG_HOME={home}/config XDG_RUNTIME_DIR={home}/run"
    );
    let gangline = env!("CARGO_BIN_EXE_gangline");
    let heard = world.path("heard").display().to_string();
    let socket = format!("{home}/run/gangline-oak-bob.sock");
    let mut tells = |command: String| -> String {
        rig.runs(&format!("{command} > {heard} 2>&1"));
        fs::read_to_string(&heard).unwrap()
    };
    let no = "oak-ada cannot speak or act as oak-bob";
    for how in ["", bare.as_str()] {
        for verb in ["send '#general' hello", "clear", "read '#general'"] {
            let told = tells(format!("{how} {gangline} channel --agent oak-bob {verb}"));
            assert!(told.contains(no), "{how} {verb}: {told}");
        }
        let looked = tells(format!("{how} {gangline} channel --agent oak-bob channels"));
        assert!(!looked.contains(no), "{looked}");
    }
    // A client that believes itself to be ada's, at bob's socket.
    let lies = format!("{bare} GANGLINE_NICK=oak-ada GANGLINE_SOCKET={socket}");
    let told = tells(format!("{lies} {gangline} channel clear"));
    assert!(told.contains("this program was started by oak-ada"), "{told}");
    let told = tells(format!("{bare} {gangline} pause bob"));
    assert!(told.contains("an agent cannot pause agents"), "{told}");
    assert!(told.contains("the agent's daemon is among its parents"), "{told}");
    // Its own agent it is, without any mark: what it sends is this turn's answer, so no other is given.
    let own = format!("{bare} GANGLINE_NICK=oak-ada {gangline} channel send '#general' mine");
    rig.eve.say("#general", &format!("@oak-ada run {own}"));
    rig.eve.hears(ADA, "#general", "mine");
    let state = "SELECT state FROM messages WHERE agent = 'oak-ada' ORDER BY id DESC LIMIT 1";
    eventually("its answer", || (rig.stage.query(state) == ["answered"]).then_some(()));
    let paused = rig.stage.query("SELECT agent FROM agents WHERE paused");
    assert_eq!(paused, [""; 0]);
    let cleared = rig.stage.query("SELECT id FROM messages WHERE sender = 'oak-bob'");
    assert_eq!(cleared, [""; 0]);
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
}
