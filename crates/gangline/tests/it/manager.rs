//! A manager that asks for another agent and another configuration, the owner who decides, and the
//! hub that applies and undoes: whole processes, a real repository.

use std::{fs, path::Path, process::Command};

use gangline_testkit::{IrcPeer, Ran, Running, Stage, World, eventually_seeing};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

const BOSS: &str = "oak-boss";
const ADA: &str = "oak-ada";
const SCRIPT: &str = r##"
rules:
  - when: {user: 'hire (\S+)', tool: request_spawn}
    reply: [tool_use: {name: whoami, input: {}}]
  - when: {tool: whoami}
    times: 1
    reply: [delay_ms: 600000, text: "never"]
  - when: {tool: whoami}
    reply: [text: "I have hired"]
  - when: {user: 'hire (\S+)'}
    reply: [tool_use: {name: request_spawn, input: {name: "$1", reason: "too much to do"}}]
  - when: {tool: request_spawn}
    reply: [text: "I have asked"]
  - when: {tool: request_apply_commit}
    reply: [text: "I have asked"]
  - when: {user: '(?s)\[(\w+) (\d+)\].*'}
    reply: [text: "so $2 is $1"]
  - when: {user: 'get me (\S+)'}
    reply: [tool_use: {name: request_spawn, input: {name: "$1", reason: "too much to do"}}]
  - when: {user: 'apply (\S+) for (\S+)'}
    reply: [tool_use: {name: request_apply_commit, input: {agent: "$2", commit_ref: "$1"}}]
  - reply: [text: "here I am"]
"##;
const CHANGES: &str = "SELECT number || ' ' || kind || ' ' || state FROM changes ORDER BY number";

struct Scene {
    stage: Stage,
    hub: Option<Running>,
    boss: IrcPeer,
}

impl Scene {
    /// A manager and Ada; an agent has so many seconds to come up. The configuration has no
    /// repository yet.
    fn new(seconds: u32, env: &[(&str, &str)]) -> Self {
        let more = format!("apply_timeout_seconds: {seconds}");
        let binary = env!("CARGO_BIN_EXE_gangline");
        let mut stage = Stage::new(binary, &[BOSS, ADA], Some(SCRIPT), (&more, ""));
        let text = fs::read_to_string(&stage.config).unwrap();
        let item = format!("- nick: {BOSS}\n");
        let text = text.replace(&item, &format!("{item}    role: manager\n"));
        stage.config = stage.world.file("fleet/agents.yaml", &text);
        let hub = Some(match env {
            [] => stage.up(),
            env => {
                let hub = stage.start(env);
                let about = stage.world.state().join("hub.json");
                eventually_seeing("a hub that is ready", || {
                    let text = fs::read_to_string(&about).unwrap_or_default();
                    if text.contains("\"ready\": true") { Ok(()) } else { Err(text) }
                });
                hub
            }
        });
        let boss = stage.owner("otto");
        Self { stage, hub, boss }
    }

    /// The same with a repository.
    fn with_repository(seconds: u32, env: &[(&str, &str)]) -> Self {
        let scene = Self::new(seconds, env);
        let init = ["--config", &scene.stage.config, "init", "--git"];
        let told = scene.stage.world.run(&init).ok();
        assert!(told.contains("repository   made in "), "{told}");
        scene
    }

    fn folder(&self) -> &Path {
        Path::new(&self.stage.config).parent().unwrap()
    }

    fn git(&self, args: &[&str]) -> String {
        let who = ["-c", "user.name=ori", "-c", "user.email=ori@localhost"];
        let mut command = Command::new("git");
        command.args(who).args(args).current_dir(self.folder()).env_clear();
        command
            .env("HOME", self.stage.world.path(""))
            .env("PATH", std::env::var_os("PATH").unwrap());
        let ran: Ran = command.output().unwrap().into();
        ran.ok().trim().to_owned()
    }

    /// Commits another configuration on a branch of its own, and leaves what is checked out alone.
    fn propose(&self, branch: &str, from: &str, to: &str) -> String {
        let before = self.text();
        assert!(before.contains(from), "{before}");
        self.git(&["checkout", "-q", "-b", branch]);
        fs::write(&self.stage.config, before.replacen(from, to, 1)).unwrap();
        self.git(&["commit", "-q", "-a", "-m", branch]);
        let commit = self.git(&["rev-parse", "HEAD"]);
        self.git(&["checkout", "-q", "main"]);
        commit
    }

    fn text(&self) -> String {
        fs::read_to_string(&self.stage.config).unwrap()
    }

    fn ask(&mut self, text: &str) {
        self.boss.say("#general", &format!("@{BOSS} {text}"));
    }

    fn sees(&self, expect: &[&str]) {
        eventually_seeing(&format!("{expect:?}"), || {
            let rows = self.stage.query(CHANGES);
            let why = self.stage.query("SELECT coalesce(outcome, '') FROM changes");
            if rows == expect { Ok(()) } else { Err(format!("{rows:?} {why:?}")) }
        });
    }

    fn world(&self) -> &World {
        &self.stage.world
    }

    fn command(&self, args: &[&str]) -> Ran {
        let config = ["--config", &self.stage.config];
        self.world().run(&[&config[..], args].concat())
    }
}

/// R2-35, R2-39, R1-50, C16: a manager asks, nobody but an owner decides, and the new agent is a
/// process of its own that answers in the room.
#[test]
fn a_manager_asks_for_an_agent_and_it_comes_up_once_the_owner_has_allowed_it() {
    let mut scene = Scene::new(60, &[]);
    scene.ask("get me bob");
    let refused = |scene: &Scene| {
        let told = scene.stage.query("SELECT payload FROM events WHERE kind = 'tool_result'");
        told.last().cloned().unwrap_or_default()
    };
    scene.boss.hears(BOSS, "#general", "I have asked");
    let told = refused(&scene);
    assert!(told.contains("is in no git repository"), "{told}");
    let init = scene.command(&["init", "--git"]).ok();
    assert!(init.contains("repository   made in "), "{init}");
    scene.ask("get me ada");
    scene.boss.hears(BOSS, "#general", "I have asked");
    let told = refused(&scene);
    assert!(told.contains("there is an agent oak-ada already"), "{told}");
    scene.sees(&[]);
    scene.ask("get me bob");
    scene.boss.hears(
        BOSS,
        "#general",
        "approval 1: oak-boss asks for a new agent oak-bob, like oak-boss (too much to do)",
    );
    scene.sees(&["1 spawn requested"]);
    let mut alice = scene.stage.member("alice");
    alice.say("#general", &format!("@{BOSS} yes 1"));
    alice.hears(BOSS, "#general", "only an owner may decide approvals");
    scene.ask("yes");
    scene.boss.hears(BOSS, "#general", "approval 1 is still open");
    let shown = scene.command(&["approvals", "1"]).ok();
    assert!(shown.contains("oak-bob is new") && shown.contains("validated: no fault"), "{shown}");
    assert!(!shown.contains("role: "), "a manager makes no manager: {shown}");
    let listed = scene.command(&["approvals"]).ok();
    assert!(listed.contains("request_spawn") && listed.contains("open"), "{listed}");
    scene.ask("yes 1");
    scene.boss.hears(BOSS, "#general", "approval 1 is allowed");
    scene.boss.hears(BOSS, "#general", "so 1 is APPLIED");
    scene.sees(&["1 spawn applied"]);
    scene.boss.say("#general", "@oak-bob are you there?");
    scene.boss.hears("oak-bob", "#general", "here I am");
    let log = scene.git(&["log", "--format=%an: %s", "-1"]);
    assert_eq!(log, "oak-boss: Add oak-bob (approval 1)");
    assert_eq!(scene.git(&["status", "--porcelain"]), "");
    let again = scene.command(&["approve", "1"]);
    assert!(again.stderr.contains("approval 1 is allowed already"), "{}", again.stderr);
}

/// R2-37: a commit is validated, shown and applied as it was when it was asked for; what is no commit, does
/// not follow, or cannot be read is refused; a no reaches the manager.
#[test]
fn a_configuration_is_applied_as_it_was_asked_for_or_refused_with_what_to_do() {
    let mut scene = Scene::with_repository(60, &[]);
    let good = scene.propose(
        "good",
        "model: standin-oak-ada",
        "tags: [quick]\n    model: standin-oak-ada",
    );
    let bad = scene.propose("broken", "agents:", "agnets:");
    for (name, why) in [
        ("--all", "is not a commit"),
        ("HEAD", "is checked out already"),
        ("broken", "the configuration cannot be used"),
    ] {
        scene.ask(&format!("apply {name} for ada"));
        scene.boss.hears(BOSS, "#general", "I have asked");
        let told = scene.stage.query("SELECT payload FROM events WHERE kind = 'tool_result'");
        assert!(told.last().unwrap().contains(why), "{name}: {told:?}");
    }
    assert_ne!(good, bad);
    scene.ask("apply good for ada");
    scene.boss.hears(
        BOSS,
        "#general",
        "approval 1: oak-boss asks for another configuration of oak-ada",
    );
    // The branch goes on; what was shown is what is applied.
    scene.git(&["branch", "-f", "good", "broken"]);
    let shown = scene.command(&["approvals", "1"]).ok();
    assert!(shown.contains(&good) && shown.contains("+    tags: [quick]"), "{shown}");
    let denied = scene.command(&["deny", "1", "--reason", "not today"]).ok();
    assert_eq!(denied, "approval 1 of oak-boss is denied\n");
    scene.boss.hears(BOSS, "#general", "so 1 is DENIED");
    assert_eq!(scene.git(&["rev-parse", "HEAD"]), scene.git(&["rev-parse", "main"]));
    scene.ask(&format!("apply {good} for ada"));
    scene.boss.hears(BOSS, "#general", "approval 2: oak-boss asks");
    let allowed = scene.command(&["approve", "2"]).ok();
    assert!(allowed.contains("approval 2 of oak-boss is allowed: the hub applies it"), "{allowed}");
    scene.boss.hears(BOSS, "#general", "so 2 is APPLIED");
    scene.sees(&["1 config denied", "2 config applied"]);
    assert_eq!(scene.git(&["rev-parse", "HEAD"]), good);
    assert!(scene.text().contains("tags: [quick]"));
    let epochs = scene.stage.query("SELECT epoch FROM agents WHERE agent = 'oak-ada'");
    assert_eq!(epochs, ["2"], "it was restarted with that");
    // What does not follow any more is refused, and so is a folder that somebody works in.
    let stale = scene.propose("stale", "tags: [quick]", "tags: [slow]");
    scene.ask(&format!("apply {stale} for ada"));
    scene.boss.hears(BOSS, "#general", "approval 3: oak-boss asks");
    fs::write(&scene.stage.config, scene.text() + "# mine\n").unwrap();
    let _ = scene.command(&["approve", "3"]).ok();
    scene.boss.hears(BOSS, "#general", "so 3 is FAILED");
    assert!(scene.text().ends_with("# mine\n"), "nothing is lost");
}

/// R2-37: a commit shows every file that it changes, and is announced by those that the configuration names.
/// What cannot be shown whole is not asked for.
#[test]
fn a_commit_is_announced_by_the_files_that_the_configuration_names() {
    let mut scene = Scene::with_repository(60, &[]);
    let commit = |scene: &Scene, branch: &str, files: &[(&str, &[u8])]| {
        scene.git(&["checkout", "-q", "-B", branch, "main"]);
        for (name, text) in files {
            fs::write(scene.folder().join(name), text).unwrap();
            scene.git(&["add", "-f", name]);
        }
        scene.git(&["commit", "-q", "-m", branch]);
        if branch != "main" {
            scene.git(&["checkout", "-q", "main"]);
        }
    };
    let model = "model: standin-oak-ada";
    let named =
        scene.text().replacen(model, &format!("{model}\n    mcp_servers_file: tools.json"), 1);
    let tools = br#"{"mcpServers": {}}"#;
    commit(&scene, "main", &[("agents.yaml", named.as_bytes()), ("tools.json", tools)]);
    let evil = br#"{"mcpServers": {"x": {"command": "/tmp/evil.sh"}}}"#;
    commit(&scene, "tidy", &[("aaa.txt", b"much\n"), ("tools.json", evil)]);
    let large = "x\n".repeat(200_000);
    commit(&scene, "large", &[("aaa.txt", large.as_bytes()), ("tools.json", evil)]);
    commit(&scene, "binary", &[("tools.json", b"\0\x01")]);
    for (branch, why) in
        [("large", "leave large files out"), ("binary", "tools.json is named by the configuration")]
    {
        scene.ask(&format!("apply {branch} for ada"));
        scene.boss.hears(BOSS, "#general", "I have asked");
        let told = scene.stage.query("SELECT payload FROM events WHERE kind = 'tool_result'");
        assert!(told.last().unwrap().contains(why), "{branch}: {told:?}");
    }
    scene.ask("apply tidy for ada");
    let told = scene.boss.hears(BOSS, "#general", "approval 1: oak-boss asks for another");
    let by = "(2 files): tools.json (named by oak-ada: mcp_servers_file)";
    assert!(told.contains(by), "{told}");
    let shown = scene.command(&["approvals", "1"]).ok();
    let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("{part}: {shown}"));
    let files = at("files that change, all 2:");
    assert!(files < at("A aaa.txt, +1 −0 lines") && files < at("M tools.json, +1 −1 lines"));
    assert!(at("files that the configuration names") < at("validated:"), "{shown}");
    assert!(at("/tmp/evil.sh") < at("+much"), "the named file comes first: {shown}");
    let always = scene.command(&["answer", "1", "yes", "always"]);
    assert!(always.stderr.contains("cannot be allowed always"), "{}", always.stderr);
    scene.sees(&["1 config requested"]);
}

/// R2-37: what followed when it was asked for and does not when it is allowed is not applied. Until somebody
/// decides, `status` and `ps` tell what is waited for.
#[test]
fn a_commit_that_does_not_follow_any_more_is_not_applied() {
    let mut scene = Scene::with_repository(60, &[]);
    let from = "model: standin-oak-ada";
    let commit = scene.propose("good", from, &format!("tags: [quick]\n    {from}"));
    scene.ask(&format!("apply {commit} for ada"));
    scene.boss.hears(BOSS, "#general", "approval 1: oak-boss asks");
    let status = scene.command(&["status", BOSS]).ok();
    assert!(status.contains("approval 1 (request_apply_commit): another"), "{status}");
    let ps = scene.command(&["ps"]).ok();
    assert!(ps.contains("approval 1 (request_apply_comm"), "{ps}");
    scene.git(&["commit", "-q", "--allow-empty", "-m", "somebody goes on"]);
    let head = scene.git(&["rev-parse", "HEAD"]);
    let _ = scene.command(&["approve", "1"]).ok();
    scene.boss.hears(BOSS, "#general", "so 1 is FAILED");
    let outcome = scene.stage.query("SELECT outcome FROM changes");
    assert!(outcome[0].contains("does not follow it: rebase the commit"), "{outcome:?}");
    assert_eq!(scene.git(&["rev-parse", "HEAD"]), head);
    assert!(!scene.text().contains("tags: [quick]"));
    let status = scene.command(&["status", BOSS]).ok();
    assert!(!status.contains("approval 1"), "{status}");
}

/// R2-37: an agent that is not up in time has the configuration from before again.
#[test]
fn a_configuration_with_which_the_agent_does_not_start_is_undone() {
    let mut scene = Scene::with_repository(5, &[]);
    let before = scene.text();
    let at = before.find(&format!("- nick: {ADA}")).unwrap();
    let line = before[at..].lines().find(|line| line.contains("directory:")).unwrap();
    let to = before[at..].replace(line, "    directory: /nowhere/at/all");
    let commit = scene.propose("bad", &before[at..], &to);
    scene.ask(&format!("apply {commit} for ada"));
    scene.boss.hears(BOSS, "#general", "approval 1: oak-boss asks");
    scene.ask("yes 1");
    scene.boss.hears(BOSS, "#general", "so 1 is ROLLED_BACK");
    scene.sees(&["1 config rolled_back"]);
    assert_eq!(scene.text(), before);
    let log = scene.git(&["log", "--format=%s"]);
    assert!(log.starts_with("Undo another configuration of oak-ada"), "{log}");
    scene.boss.say("#general", "@oak-ada are you there?");
    scene.boss.hears(ADA, "#general", "here I am");
}

/// R2-37: one that runs and does not become ready is given its time, and no more.
#[test]
fn a_configuration_with_which_the_agent_is_not_ready_in_time_is_undone() {
    is_undone_in_time("agent: claude\n    command: [sleep, \"600\"]");
}

/// R2-37: the same where the program speaks the Agent Client Protocol and never answers.
#[test]
fn an_acp_program_that_never_answers_is_not_up() {
    is_undone_in_time("agent: acp\n    acp_command: [sleep, \"600\"]");
}

fn is_undone_in_time(silent: &str) {
    let mut scene = Scene::with_repository(3, &[]);
    let before = scene.text();
    let at = before.find(&format!("- nick: {ADA}")).unwrap();
    let to = before[at..].replacen("agent: native", silent, 1);
    let commit = scene.propose("silent", &before[at..], &to);
    scene.ask(&format!("apply {commit} for hm1nd"));
    scene.boss.hears(BOSS, "#general", "another configuration of oak-boss");
    let _ = scene.command(&["deny", "1"]).ok();
    scene.boss.hears(BOSS, "#general", "so 1 is DENIED");
    scene.ask(&format!("apply {commit} for ada"));
    scene.boss.hears(BOSS, "#general", "approval 2: oak-boss asks");
    scene.ask("yes 2");
    scene.boss.hears(BOSS, "#general", "so 2 is ROLLED_BACK");
    let outcome = scene.stage.query("SELECT outcome FROM changes WHERE number = 2");
    assert!(outcome[0].contains("oak-ada was not up in 3 s"), "{outcome:?}");
    assert_eq!(scene.text(), before);
    scene.boss.say("#general", "@oak-ada are you there?");
    scene.boss.hears(ADA, "#general", "here I am");
}

/// A hub that is killed at any step goes on: what was allowed is applied or undone, once.
#[test]
fn a_hub_killed_at_each_step_of_a_change_goes_on_where_it_was() {
    let points = ["change.step", "change.applying", "change.checked_out"];
    for point in points {
        let failpoint = format!("{point}=kill");
        let mut scene = Scene::with_repository(60, &[("GANGLINE_FAILPOINTS", &failpoint)]);
        let from = "model: standin-oak-ada";
        let commit = scene.propose("good", from, &format!("tags: [quick]\n    {from}"));
        scene.ask(&format!("apply {commit} for ada"));
        scene.boss.hears(BOSS, "#general", "approval 1: oak-boss asks");
        let _ = scene.command(&["approve", "1"]).ok();
        scene.hub.take().unwrap().wait();
        scene.hub = Some(scene.stage.up());
        scene.sees(&["1 config applied"]);
        assert_eq!(scene.git(&["rev-parse", "HEAD"]), commit, "{point}");
        assert_eq!(scene.git(&["status", "--porcelain"]), "", "{point}");
        let told = "SELECT count(*) FROM messages WHERE origin = 'system' AND agent = 'oak-boss' \
                    AND intake_key = 'change/1'";
        assert_eq!(scene.stage.query(told), ["1"], "{point}");
    }
}

/// The same for the way back.
#[test]
fn a_hub_killed_while_it_undoes_a_change_goes_on_undoing() {
    for point in ["change.rolling_back", "change.undone"] {
        let failpoint = format!("{point}=kill");
        let mut scene = Scene::with_repository(2, &[("GANGLINE_FAILPOINTS", &failpoint)]);
        let before = scene.text();
        let (head, ada) = before.split_once(&format!("- nick: {ADA}")).unwrap();
        let line = ada.lines().find(|line| line.contains("directory:")).unwrap();
        let to = format!("- nick: {ADA}{}", ada.replace(line, "    directory: /nowhere/at/all"));
        assert!(head.contains(BOSS));
        let commit = scene.propose("bad", &before[head.len()..], &to);
        scene.ask(&format!("apply {commit} for ada"));
        scene.boss.hears(BOSS, "#general", "approval 1: oak-boss asks");
        let _ = scene.command(&["approve", "1"]).ok();
        scene.hub.take().unwrap().wait();
        scene.hub = Some(scene.stage.up());
        scene.sees(&["1 config rolled_back"]);
        assert_eq!(scene.text(), before, "{point}");
        assert_eq!(scene.git(&["log", "--format=%h"]).lines().count(), 3, "{point}: undone once");
    }
}

/// The manager dies after it has asked, and the owner decides meanwhile: its next attempt asks for nothing
/// more, and is told what became of the request.
#[test]
fn a_manager_that_dies_after_its_request_asks_once() {
    let mut scene = Scene::with_repository(60, &[]);
    scene.ask("hire bob");
    scene.sees(&["1 spawn requested"]);
    let results =
        "SELECT payload FROM events WHERE kind = 'tool_result' AND payload LIKE '%request_spawn%'";
    let looked =
        "SELECT count(*) FROM events WHERE kind = 'tool_result' AND payload LIKE '%whoami%'";
    eventually_seeing("the end of its calls", || {
        let count = scene.stage.query(looked);
        if count == ["1"] { Ok(()) } else { Err(format!("{count:?}")) }
    });
    for pid in scene.world().processes_like(&format!("daemon {BOSS}")) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
    let _ = scene.command(&["approve", "1"]).ok();
    scene.boss.hears(BOSS, "#general", "I have hired");
    let told = scene.stage.query(results);
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[1].contains("already asked for as change 1 "), "{told:?}");
    assert_eq!(scene.stage.query("SELECT count(*) FROM changes"), ["1"]);
    scene.sees(&["1 spawn applied"]);
}
