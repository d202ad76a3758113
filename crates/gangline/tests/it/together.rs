//! Agents and people who ask each other, and whose questions outlive every process; the kills at
//! random are in `together/fire.rs`.

mod fire;

use std::{fs, path::Path};

use gangline_testkit::{IrcPeer, Running, World, database, eventually, stage::free_port};

use crate::claude::kill_hard;

const CAPS: &str = "message-tags server-time batch echo-message draft/chathistory";
const ROOM: &str = "#general";

/// An installation whose hub, daemons and model are killed and started anew, on the same ports.
struct Scene {
    world: World,
    config: String,
    irc: String,
    standin: [String; 5],
}

impl Scene {
    /// Prepares native agents of these nicks; `script` is their model's.
    fn new(agents: &[&str], script: &str) -> Self {
        let world = World::new(env!("CARGO_BIN_EXE_gangline"));
        let (port, listen) = (free_port(), format!("127.0.0.1:{}", free_port()));
        let work = world.path("work");
        fs::create_dir_all(&work).unwrap();
        let mut yaml =
            format!("server:\n  name: lab\n  host: 127.0.0.1\n  port: {port}\nagents:\n");
        for nick in agents {
            yaml.push_str(&format!(
                "  - nick: {nick}\n    agent: native\n    directory: {}\n    channels: [\"{ROOM}\"]\n    \
                 model: scripted\n    base_url: http://{listen}\n    max_attempts: 100\n",
                work.display()
            ));
        }
        let config = world.file("agents.yaml", &yaml);
        let script = world.file("script.yaml", script);
        let serve = ["standin", "serve", "--listen", &listen].map(str::to_owned);
        let [standin, serve, flag, listen] = serve;
        let standin = [standin, serve, flag, listen, format!("--script={script}")];
        Self { world, config, irc: format!("127.0.0.1:{port}"), standin }
    }

    fn standin(&self) -> Running {
        self.world.start(&self.standin.each_ref().map(String::as_str))
    }

    fn up_args(&self) -> [&str; 5] {
        ["--config", &self.config, "up", "--restart-delay-max", "2"]
    }

    /// Starts the hub, with its agents, and the model.
    fn start(&self) -> [Running; 2] {
        [self.standin(), self.world.start_ready(&self.up_args())]
    }

    /// Kills every process with SIGKILL, and leaves none.
    fn kill_all(&self, running: [Running; 2]) {
        for mut one in running {
            one.kill();
        }
        self.world.processes().into_iter().for_each(|(pid, _)| kill_hard(pid));
        eventually("the end of every process", || self.world.processes().is_empty().then_some(()));
    }

    fn owner(&self, nick: &str) -> IrcPeer {
        let token = fs::read_to_string(self.world.state().join("owner.token")).unwrap();
        let password = format!("owner:{}", token.trim());
        let mut peer = IrcPeer::connect_with(&self.irc, (nick, Some(&password)), CAPS);
        peer.join(ROOM);
        peer
    }

    fn query(&self, sql: &'static str) -> Vec<String> {
        database::query(&self.world.state().join("gangline.db"), sql)
    }

    fn sees(&self, sql: &'static str, expect: &[&str]) {
        eventually(sql, || (self.query(sql) == expect).then_some(()));
    }

    /// Ends everything in order: nothing is left, and the databases are sound.
    fn put_away(&self, [mut standin, mut hub]: [Running; 2]) {
        assert_eq!(hub.terminate(), 0, "{}", hub.output());
        standin.kill();
        let left = self.world.processes();
        assert!(left.is_empty(), "processes are left: {left:?}");
        let sound = |path: &Path| assert_eq!(database::integrity_check(path), "ok");
        ["gangline.db", "irc.db"].iter().for_each(|name| sound(&self.world.state().join(name)));
    }
}

/// The model of both agents. What an earlier attempt did, it does not do again.
const TALK: &str = r##"
rules:
  - when: {user: 'already sent'}
    reply: [tool_use: {name: no_reply, input: {}}]
  - when: {user: '\[QUESTION (\d+)\] <lab-ada> which colour'}
    reply: [tool_use: {name: answer, input: {id: "$1", answer: "blue"}}]
  - when: {user: '\[ANSWER \d+\] <lab-bob> (\w+)'}
    reply: [text: "bob says $1"]
  - when: {user: '\[ANSWER \d+\] <[^>]+> (\w+)'}
    reply: [tool_use: {name: send, input: {to: "lab-bob", body: "it is $1 - tell the room"}}]
  - when: {user: 'it is (\w+) - tell the room'}
    reply: [tool_use: {name: send, input: {to: "#general", body: "we deploy to $1"}}]
  - when: {user: 'plan the release'}
    reply: [tool_use: {name: ask, input: {question: "deploy where?", options: ["staging", "production"]}}]
  - when: {tool: ask, tool_result: 'owners'}
    reply: [tool_use: {name: ask, input: {question: "which colour?", to: "lab-bob"}}]
  - when: {tool: ask}
    reply: [text: "I have asked both"]
  - when: {tool: no_reply}
    reply: [text: "noted"]
  - reply: [tool_use: {name: no_reply, input: {}}]
"##;
const QUESTIONS: &str = "SELECT id || ' ' || state || ' ' || coalesce(answer, '') || ' ' || \
                         coalesce(answered_by, '') FROM questions ORDER BY id";

/// R2-21 … R2-25, R1-51: two agents and a person hold a conversation whose questions outlive the
/// restart of all processes, three times; everything in it is said once.
#[test]
fn a_conversation_with_open_questions_outlives_every_process() {
    let scene = Scene::new(&["lab-ada", "lab-bob"], TALK);
    let running = scene.start();
    let mut ori = scene.owner("ori");
    // The other agent does not get to its question before the first restart.
    let bob = scene.world.processes_like("daemon lab-bob");
    bob.into_iter().for_each(gangline_testkit::world::hold);
    ori.say(ROOM, "@lab-ada plan the release");
    ori.hears("lab-ada", ROOM, "question 1 from lab-ada");
    ori.hears("lab-ada", ROOM, "I have asked both");
    assert_eq!(scene.query(QUESTIONS), ["1 open  ", "2 open  "]);
    scene.kill_all(running);

    let running = scene.start();
    let mut ori = scene.owner("ori");
    scene.sees(QUESTIONS, &["1 open  ", "2 answered blue lab-bob"]);
    scene.sees(
        "SELECT count(*) FROM outbox WHERE body = 'bob says blue' AND state = 'confirmed'",
        &["1"],
    );
    scene.kill_all(running);

    let running = scene.start();
    let listed = scene.world.run(&["questions"]).ok();
    assert!(listed.contains("deploy where?") && !listed.contains("colour"), "{listed}");
    drop(ori);
    ori = scene.owner("ori");
    // The room shows the question to whoever was not there.
    ori.say(ROOM, "@lab-ada answer 1");
    ori.hears("lab-ada", ROOM, "1) staging  2) production");
    ori.say(ROOM, "@lab-ada answer 1 2");
    ori.hears("lab-ada", ROOM, "question 1 was answered by ori (owner): production");
    scene.kill_all(running);

    let running = scene.start();
    ori = scene.owner("ori");
    let told = "SELECT count(*) FROM outbox WHERE body = 'we deploy to production' AND state = 'confirmed'";
    scene.sees(told, &["1"]);
    scene.sees(QUESTIONS, &["1 answered production ori (owner)", "2 answered blue lab-bob"]);
    let open = "SELECT count(*) FROM messages WHERE state NOT IN ('answered', 'no_reply') \
                AND origin <> 'system'";
    scene.sees(open, &["0"]);
    let history = ori.history(ROOM).join("\n");
    for line in [
        "question 1 from lab-ada to the owners: deploy where?",
        "I have asked both",
        "bob says blue",
        "we deploy to production",
    ] {
        let notices = ["@lab-ada answer 1", "ori: question 1 from"];
        let times = history
            .lines()
            .filter(|said| said.contains(line) && !notices.iter().any(|it| said.contains(it)))
            .count();
        assert_eq!(times, 1, "`{line}` in {history}");
    }
    scene.put_away(running);
}
