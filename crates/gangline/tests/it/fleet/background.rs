//! `up -d` and `down`: a hub behind the scenes.

use std::{fs, net::TcpListener};

use gangline_testkit::{Ran, database, eventually, eventually_seeing, world::stands_still};
use nix::sys::signal::Signal;

use super::{Fleet, gone, send};

/// R1-44, R1-49: one command starts every agent as a process of its own and comes back when they
/// are ready; one ends them all.
#[test]
fn up_d_comes_back_when_all_are_ready_and_down_ends_everything() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    let ran = fleet.run(&["up", "-d"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in ["oak-ada  ready, process", "oak-bob  ready, process", "the hub is process"] {
        assert!(ran.stderr.contains(part), "no `{part}` in {}", ran.stderr);
    }
    let token = fleet.stage.token();
    assert!(ran.stdout.contains(&format!("account owner, password {token}\n")), "{}", ran.stdout);
    assert!(ran.stdout.lines().count() < 5, "the rest is what `join` prints: {}", ran.stdout);
    assert!(ran.stdout.contains("The room is #general;") && ran.stdout.contains("gangline down"));
    assert!(!fleet.hub_log().contains(&token), "a log is no place for a password");
    let (hub, pids) = (fleet.hub(), [fleet.pid("oak-ada"), fleet.pid("oak-bob")]);
    let session = std::fs::read_to_string(format!("/proc/{hub}/stat")).unwrap();
    let session = session.rsplit_once(')').unwrap().1.split_whitespace().nth(3).unwrap().to_owned();
    assert_eq!(session, hub.to_string(), "it leads a session of its own");
    let ps = fleet.run(&["ps"]).ok();
    assert!(ps.contains(&format!("hub: process {hub}, version")), "{ps}");

    let down = fleet.run(&["down"]);
    assert_eq!((down.code, down.stdout.as_str()), (0, "the agents and the hub have ended\n"));
    assert!(down.stderr.contains("oak-ada  ended"), "{}", down.stderr);
    pids.into_iter().chain([hub]).for_each(gone);
    fleet.none_left("daemon");
    let path = fleet.world().state().join("gangline.db");
    assert_eq!(database::integrity_check(&path), "ok");
    let ps = fleet.run(&["ps"]).ok();
    assert!(ps.contains("no hub runs: `gangline up -d` starts one"), "{ps}");
    assert_eq!(fleet.standing("oak-ada"), "down", "nobody stopped it: the next hub starts it");
    let again = fleet.run(&["down"]);
    assert_eq!((again.code, again.stderr.as_str()), (0, "nothing runs\n"));
    fleet.up();
    assert_eq!(fleet.standing("oak-ada"), "idle");
}

/// The exit code and the text are those of the hub that could not start.
#[test]
fn up_d_says_why_the_hub_did_not_start() {
    let fleet = Fleet::new(&["oak-ada"]);
    let taken = TcpListener::bind(&fleet.stage.irc).unwrap();
    let ran = fleet.run(&["up", "-d"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("cannot listen on"), "{}", ran.stderr);
    assert!(ran.stderr.contains("its log is"), "{}", ran.stderr);
    drop(taken);
    fleet.configure("nonsense: [\n");
    let ran = fleet.run(&["up", "-d"]);
    assert_eq!(ran.code, 78, "the same checks as in the foreground: {}", ran.stderr);
    assert!(fleet.world().processes_like("up --service").is_empty());
}

/// R1-49: one agent that cannot run does not hold up the others; the exit code tells of it, and the
/// text says why.
#[test]
fn up_d_names_the_agent_that_cannot_run() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob", "oak-cleo", "oak-dora"]);
    let text = std::fs::read_to_string(&fleet.stage.config).unwrap();
    let (one, two) = text.split_once("  - nick: oak-bob").unwrap();
    let (bob, three) = two.split_once("  - nick: oak-cleo").unwrap();
    let (cleo, dora) = three.split_once("  - nick: oak-dora").unwrap();
    let work = fleet.world().path("work").display().to_string();
    let lost = cleo.replace(&work, &format!("{work}/nowhere"));
    let bad = format!(
        "{one}  - nick: oak-bob\n    api_key_env: NOT_SET_ANYWHERE{bob}  - nick: oak-cleo{lost}  - \
         nick: oak-dora\n    mcp_servers_file: servers.json{dora}"
    );
    std::fs::write(&fleet.stage.config, bad).unwrap();
    let ran = fleet.run(&["up", "-d"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    for told in [
        "oak-ada   ready, process",
        "oak-bob   the variable NOT_SET_ANYWHERE is not set",
        "oak-cleo  cannot run oak-cleo: its directory",
        "oak-dora  cannot read the MCP servers of oak-dora",
        "error: not done: oak-bob, oak-cleo, oak-dora",
    ] {
        assert!(ran.stderr.contains(told), "no `{told}` in {}", ran.stderr);
    }
    let check = fleet.world().run(&["config", "check", &fleet.stage.config]);
    assert_eq!(check.code, 78, "{}", check.stdout);
    assert!(check.stderr.contains("cannot read the MCP servers of oak-dora"), "{}", check.stderr);
    assert!(ran.stdout.contains("`gangline join`"), "the others can be spoken to: {}", ran.stdout);
    assert_eq!(fleet.standing("oak-ada"), "idle");
    assert_eq!(fleet.standing("oak-bob"), "failed");
    let doctor = fleet.run(&["doctor", "oak-bob"]);
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    let told = "failed, and is not started again: the variable NOT_SET_ANYWHERE is not set";
    assert!(doctor.stdout.contains(told), "{}", doctor.stdout);
    // This shell has what the hub lacks.
    let mut ps = fleet.world().command(&["--config", &fleet.stage.config, "ps"]);
    let ran: Ran = ps.env("NOT_SET_ANYWHERE", "key").output().unwrap().into();
    let told = "oak-bob failed: the hub was started without the variable NOT_SET_ANYWHERE, which is \
                set here: `gangline restart --hub` gives it to the hub";
    assert!(ran.stdout.contains(told), "{}", ran.stdout);
    let ada = fleet.pid("oak-ada");
    let mut again = fleet.world().command(&["--config", &fleet.stage.config, "restart", "--hub"]);
    let ran: Ran = again.env("NOT_SET_ANYWHERE", "key").output().unwrap().into();
    assert!(ran.stderr.contains("oak-bob   ready, process"), "{}", ran.stderr);
    assert_eq!(fleet.pid("oak-ada"), ada, "who can run is left alone");
    let told = fleet.run(&["ps"]).ok();
    assert!(told.contains("oak-dora failed: cannot read the MCP servers of oak-dora"), "{told}");
    let folder = std::path::Path::new(&fleet.stage.config).parent().unwrap();
    std::fs::write(folder.join("servers.json"), "{}").unwrap();
    // What was given up is tried again when the configuration is read again, and when ordered.
    std::fs::create_dir(format!("{work}/nowhere")).unwrap();
    let text = std::fs::read_to_string(&fleet.stage.config).unwrap();
    std::fs::write(&fleet.stage.config, format!("{text}http: {{enabled: true, port: 0}}\n"))
        .unwrap();
    let ran = fleet.run(&["up", "-d"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let note = "note: the changes of `http` take effect when the hub starts anew: `gangline restart --hub`";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    assert!(ran.stderr.contains("has read its configuration again"), "{}", ran.stderr);
    assert_eq!(fleet.standing("oak-cleo"), "idle");
}

/// A program that opens no session without a login: it needs one at once, and is not called ready.
#[test]
fn up_d_names_the_login_that_a_program_wants_at_its_start() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    let answer = |method: &str, rest: &str| {
        format!("*'\"{method}\"'*) echo '{{\"jsonrpc\":\"2.0\",\"id\":'$id',{rest}}}';;\n")
    };
    let script = format!(
        "while read -r line; do\nid=$(printf '%s' \"$line\" | sed 's/.*\"id\":\\([0-9]*\\).*/\\1/')\n\
         case \"$line\" in\n{}{}esac; done\n",
        answer("initialize", r#""result":{"protocolVersion":1}"#),
        answer("session/new", r#""error":{"code":-32000,"message":"Sign in first"}"#),
    );
    let program = fleet.world().file("refuses.sh", &script);
    let text = std::fs::read_to_string(&fleet.stage.config).unwrap();
    let (one, two) = text.split_once("  - nick: oak-bob").unwrap();
    let work = fleet.world().path("work").display().to_string();
    assert!(two.contains(&work), "{two}");
    let bob = format!(
        "  - nick: oak-bob\n    agent: acp\n    acp_command: [sh, {program}]\n    directory: {work}\n"
    );
    std::fs::write(&fleet.stage.config, format!("{one}{bob}")).unwrap();
    let ran = fleet.run(&["up", "-d"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("oak-ada  ready, process"), "{}", ran.stderr);
    let told = "oak-bob  its backend needs a login: Sign in first";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert!(!ran.stderr.contains("oak-bob  ready"), "{}", ran.stderr);
    assert_eq!(fleet.standing("oak-bob"), "needs_login");
    assert_eq!(fleet.ps()["oak-bob"].get("session"), None, "without a login there is none");
    let doctor = fleet.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    for told in [
        "fail  status         needs a login: Sign in first",
        "-> log in, then run `gangline resume oak-bob`",
    ] {
        assert!(doctor.stdout.contains(told), "no `{told}` in {}", doctor.stdout);
    }
}

/// A hub in the foreground says so as well, once, and does not wait for those that cannot run.
#[test]
fn up_says_who_is_not_ready() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    let text = std::fs::read_to_string(&fleet.stage.config).unwrap();
    let (one, two) = text.split_once("  - nick: oak-bob").unwrap();
    let work = fleet.world().path("work").display().to_string();
    let two = two.replace(&work, &format!("{work}/nowhere"));
    std::fs::write(&fleet.stage.config, format!("{one}  - nick: oak-bob{two}")).unwrap();
    let mut up = fleet.start(&["up"]);
    up.says("error: cannot run oak-bob: its directory");
    up.says("ready: oak-ada\nnot ready: oak-bob (`gangline ps` shows why)");
}

/// R1-03, R1-49: the hub of the background ends by SIGTERM, and by `down --hub-only`, without its
/// daemons; the next one adopts them. `down` needs no hub.
#[test]
fn the_hub_goes_and_comes_while_its_daemons_stay() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    fleet.up();
    let pids = || [fleet.pid("oak-ada"), fleet.pid("oak-bob")];
    let before = pids();
    let first = fleet.hub();
    send(first, Signal::SIGTERM);
    gone(first);
    assert_eq!(pids(), before);
    fleet.up();
    assert_eq!(pids(), before, "adopted");
    let second = fleet.hub();
    assert_ne!(first, second);
    let ran = fleet.run(&["down", "--hub-only"]);
    assert_eq!(ran.ok(), "the hub has ended; still running: oak-ada, oak-bob\n");
    gone(second);
    fleet.up();
    let again = fleet.run(&["restart", "--hub"]);
    assert_eq!(again.code, 0, "{}", again.stderr);
    assert_eq!(pids(), before);
    let options = fleet.about()["options"].clone();
    assert_eq!(options, serde_json::json!(["--restart-delay-max", "1"]), "it keeps its options");
    send(fleet.hub(), Signal::SIGKILL);
    gone(fleet.hub());
    let ran = fleet.run(&["down"]);
    assert_eq!(ran.ok(), "the agents have ended; no hub ran\n");
    before.into_iter().for_each(gone);
}

/// A hub is ready when its daemons are back in their rooms, not when they were once.
#[test]
fn a_new_hub_is_ready_when_those_it_adopts_have_come_back() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    fleet.up();
    send(fleet.hub(), Signal::SIGKILL);
    gone(fleet.hub());
    let daemons = [fleet.pid("oak-ada"), fleet.pid("oak-bob")];
    stop_between_writes(&fleet, daemons);
    let hub = fleet.stage.start(&[]);
    let about = eventually_seeing("the hub to see its daemons", || {
        let about = fleet.about();
        let up = |nick: &str| about["kept"][nick]["standing"] == "up";
        let sees = about["pid"] == hub.pid() && up("oak-ada") && up("oak-bob");
        if sees { Ok(about) } else { Err(format!("{about:#}")) }
    });
    assert_eq!(about["ready"], false, "they run and cannot have come back");
    daemons.into_iter().for_each(|pid| send(pid, Signal::SIGCONT));
    eventually("the hub to be ready", || (fleet.about()["ready"] == true).then_some(()));
    let mut alice = fleet.person("alice");
    alice.send("NAMES #general");
    let names = alice.wait("the names", |line| line.contains(" 353 ").then(|| line.to_owned()));
    assert!(names.contains("oak-ada") && names.contains("oak-bob"), "{names}");
}

/// Stops daemons that have lost their hub, none of them with a lock on the store: they write down
/// what has become of their link.
fn stop_between_writes(fleet: &Fleet, daemons: [i32; 2]) {
    let store = fleet.world().state().join("gangline.db");
    eventually("the daemons to stop between two writes", || {
        for pid in daemons {
            send(pid, Signal::SIGSTOP);
            stands_still(pid);
        }
        let free = database::is_free(&store);
        if !free {
            daemons.into_iter().for_each(|pid| send(pid, Signal::SIGCONT));
        }
        free.then_some(())
    });
}

/// `down` says who is in a turn, lets it settle, and its answer is said before the chat server ends.
#[test]
fn down_waits_for_a_turn_and_says_so() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    fleet.up();
    let mut alice = fleet.person("alice");
    fleet.stage.hold_model();
    alice.say("#general", "@oak-ada say exactly settled");
    fleet.becomes("oak-ada", "working");
    let mut down = fleet.start(&["down"]);
    down.says("oak-ada  in a turn on m1, which has 20 s to finish");
    fleet.stage.release_model();
    assert_eq!(down.wait(), 0, "{}", down.output());
    alice.hears("oak-ada", "#general", "settled");
}

/// Two requests that reach the hub at once would count as one: the second waits for the first.
#[test]
fn haste_reaches_a_hub_that_was_too_busy_for_the_first_word() {
    let fleet = Fleet::new(&["oak-ada"]);
    fleet.up();
    let _ = fleet.run(&["prompt", "oak-ada", "sleep 300"]).ok();
    fleet.becomes("oak-ada", "working");
    let hub = fleet.hub();
    send(hub, Signal::SIGSTOP);
    stands_still(hub);
    let mut down = fleet.start(&["down"]);
    down.says("in a turn on m1");
    down.signal(Signal::SIGINT);
    down.says("press Ctrl-C again to interrupt open turns");
    down.signal(Signal::SIGINT);
    down.says("press Ctrl-C again to kill the agents");
    send(hub, Signal::SIGCONT);
    assert_eq!(down.wait(), 0, "{}", down.output());
    assert_eq!(fleet.interrupted("oak-ada"), ["asked again"]);
}

/// The second Ctrl-C interrupts open turns; `--now` does so from the beginning. What was interrupted waits for
/// the next start.
#[test]
fn down_in_haste_interrupts_and_keeps_the_message() {
    let fleet = Fleet::new(&["oak-ada"]);
    fleet.up();
    let _ = fleet.run(&["prompt", "oak-ada", "sleep 300"]).ok();
    fleet.becomes("oak-ada", "working");
    let mut down = fleet.start(&["down"]);
    down.says("in a turn on m1");
    down.signal(Signal::SIGINT);
    down.says("press Ctrl-C again to interrupt open turns");
    down.signal(Signal::SIGINT);
    down.says("press Ctrl-C again to kill the agents");
    assert_eq!(down.wait(), 0, "{}", down.output());
    assert_eq!(fleet.interrupted("oak-ada"), ["asked again"]);
    let state = "SELECT state || ' ' || attempt FROM messages WHERE origin <> 'system'";
    assert_eq!(fleet.stage.query(state), ["accepted 0"], "an end of ours is no attempt");
    let events = fleet.stage.query("SELECT outcome FROM turns");
    assert_eq!(events, ["interrupted:drain"]);
    fleet.up();
    fleet.becomes("oak-ada", "working");
    assert_eq!(fleet.run(&["down", "--now"]).ok(), "the agents and the hub have ended\n");
    assert_eq!(fleet.interrupted("oak-ada"), ["asked again"; 2]);
    assert_eq!(fleet.stage.query(state), ["accepted 0"]);
}

/// A hub that stands still before it has begun is told of, and `up -d` does not wait for ever; the
/// next one finds it when it goes on.
#[test]
fn up_d_gives_up_a_hub_that_does_not_begin() {
    let fleet = Fleet::new(&["oak-ada"]);
    let stops = [("GANGLINE_FAILPOINTS", "hub.begins=stop")];
    let args = ["--config", &fleet.stage.config, "up", "-d", "--timeout", "1"];
    let mut up = fleet.world().start_with(&stops, &args);
    assert_eq!(up.wait(), 2, "{}", up.output());
    let said = up.output();
    for part in ["did not begin within 1 s", "it may still start; its log is"] {
        assert!(said.contains(part), "no `{part}` in {said}");
    }
    let hub = said.split("the hub, process ").nth(1).and_then(|rest| rest.split(',').next());
    send(hub.unwrap().parse().unwrap(), Signal::SIGCONT);
    fleet.up();
    assert_eq!(fleet.standing("oak-ada"), "idle");
    let _ = fleet.run(&["down"]).ok();
}

/// Two `up -d` at once: one of them starts the hub, and both say the same and end well.
#[test]
fn two_that_begin_at_once_both_end_well() {
    let fleet = Fleet::new(&["oak-ada"]);
    let mut both = [fleet.start(&["up", "-d"]), fleet.start(&["up", "-d"])];
    let codes = both.each_mut().map(|up| up.wait());
    let said = both.each_ref().map(|up| up.output());
    assert_eq!(codes, [0, 0], "{said:#?}");
    for said in &said {
        assert!(said.contains("oak-ada  ready, process"), "{said}");
        assert!(said.contains("The room is #general"), "{said}");
    }
    assert_eq!(fleet.world().processes_like("up --service").len(), 1);
}

/// The folder of the sockets is removed, as a last logout does: `doctor` and `attach` say what is
/// so. The daemon is held, for it makes its socket again at the next tick.
#[test]
fn a_socket_that_was_removed_is_said_to_be_missing() {
    let fleet = Fleet::new(&["oak-ada"]);
    fleet.up();
    let pid = fleet.pid("oak-ada");
    send(pid, Signal::SIGSTOP);
    stands_still(pid);
    let found = fleet.run(&["doctor", "--json"]).stdout;
    assert!(!found.contains("its socket is missing"), "{found}");
    fs::remove_dir_all(fleet.world().path("run")).unwrap();
    let found = fleet.run(&["doctor", "--json"]).stdout;
    assert!(found.contains("oak-ada: the daemon runs, but its socket is missing"), "{found}");
    let attach = fleet.run(&["attach", "oak-ada", "--json"]);
    assert_ne!(attach.code, 0);
    let said = "the daemon of oak-ada runs, and its socket cannot be used";
    assert!(attach.stderr.contains(said), "{}", attach.stderr);
    send(pid, Signal::SIGCONT);
}
