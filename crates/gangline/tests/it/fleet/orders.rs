//! Stop, start, restart, and configurations that change.

use std::{fs, os::unix::fs::symlink, path::Path};

use gangline_testkit::{Ngircd, eventually, eventually_seeing, ircd, stage};
use nix::sys::signal::Signal;

use super::{Fleet, gone, is_gone, send};

/// R1-44: an agent that was stopped stays down, also over the hub's death, and what is said to it
/// meanwhile is answered when it is started.
#[test]
fn a_stopped_agent_stays_down_until_it_is_started_and_misses_nothing() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    fleet.up();
    let (ada, bob) = (fleet.pid("oak-ada"), fleet.pid("oak-bob"));
    let ran = fleet.run(&["stop", "oak-ada"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("oak-ada  stopped"), "{}", ran.stderr);
    gone(ada);
    assert_eq!(fleet.standing("oak-ada"), "stopped");
    let mut alice = fleet.person("alice");
    alice.say("#general", "@oak-ada say exactly while-stopped");
    alice.say("#general", "@oak-bob say exactly bob-is-there");
    alice.hears("oak-bob", "#general", "bob-is-there");
    send(fleet.hub(), Signal::SIGKILL);
    gone(fleet.hub());
    let ran = fleet.run(&["up", "-d"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(fleet.standing("oak-ada"), "stopped", "the order outlives the hub");
    assert_eq!(fleet.pid("oak-bob"), bob);
    let ps = fleet.run(&["ps"]).ok();
    assert!(ps.contains("stopped") && ps.contains("start (stopped by"), "{ps}");
    let ran = fleet.run(&["start", "oak-ada"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("oak-ada  ready, process"), "{}", ran.stderr);
    fleet.all_answered(&["while-stopped".to_owned(), "bob-is-there".to_owned()]);
    let again = fleet.run(&["start", "--all"]);
    assert_eq!(again.code, 0, "what runs is ready at once: {}", again.stderr);
    assert_eq!(fleet.pid("oak-bob"), bob);
}

/// Orders are rows: without a hub they are kept for the next one, and what runs can be ended.
#[test]
fn orders_are_kept_when_no_hub_runs() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    let ran = fleet.run(&["stop", "oak-bob"]);
    assert_eq!(ran.code, 0, "before anything ever ran: {}", ran.stderr);
    fleet.up();
    assert_eq!(fleet.standing("oak-bob"), "stopped");
    let _ = fleet.run(&["down", "--hub-only"]).ok();
    let ada = fleet.pid("oak-ada");
    let restart = fleet.run(&["restart", "oak-ada"]);
    assert_eq!(restart.code, 1, "what cannot be started again is not ended");
    assert!(!is_gone(ada));
    // R1-44: `start` brings the hub that is missing, and waits for the agents.
    let start = fleet.run(&["start", "bob"]);
    assert_eq!(start.code, 0, "{}", start.stderr);
    assert!(start.stderr.contains("no hub runs: starting one"), "{}", start.stderr);
    assert_eq!(fleet.standing("oak-bob"), "idle");
    fleet.begins("oak-ada", 2);
    assert_eq!(fleet.epoch("oak-ada"), 2, "the restart that was kept");
    gone(ada);
    let _ = fleet.run(&["down", "--hub-only"]).ok();
    let ran = fleet.run(&["stop", "--all", "--now"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    fleet.none_left("daemon");
}

/// A fleet is rolled: each is ready before the next one ends, and one that is in a turn is waited
/// for.
#[test]
fn a_roll_waits_for_turns_and_takes_one_after_the_other() {
    let nicks = ["oak-ada", "oak-bob", "oak-cleo"];
    let fleet = Fleet::new(&nicks);
    fleet.up();
    let mut alice = fleet.person("alice");
    fleet.stage.hold_model();
    alice.say("#general", "@oak-ada say exactly waited for");
    fleet.becomes("oak-ada", "working");
    let mut roll = fleet.start(&["restart", "--all", "--when-idle"]);
    roll.says("oak-ada   in a turn on m1: restarted once it is idle");
    roll.says("oak-bob   ready, process");
    roll.says("oak-cleo  ready, process");
    assert_eq!(fleet.standing("oak-ada"), "working");
    fleet.stage.release_model();
    assert_eq!(roll.wait(), 0, "{}", roll.output());
    alice.hears("oak-ada", "#general", "waited for");
    assert_eq!(fleet.stage.query("SELECT outcome FROM turns"), ["completed"]);
    let order = fleet.stage.query("SELECT agent FROM agents ORDER BY started_at");
    assert_eq!(order, ["oak-bob", "oak-cleo", "oak-ada"], "who is idle does not wait for a turn");
    let spans = "SELECT started_at || ' ' || ready_at FROM agents ORDER BY started_at";
    let spans: Vec<Vec<i64>> = fleet
        .stage
        .query(spans)
        .iter()
        .map(|span| span.split(' ').map(|at| at.parse().unwrap()).collect())
        .collect();
    assert_eq!(spans.len(), 3);
    for pair in spans.windows(2) {
        assert!(pair[0][1] <= pair[1][0], "ready before the next one began: {spans:?}");
    }
    assert!(nicks.iter().all(|nick| fleet.epoch(nick) == 2));
    // At once: the turn may settle all the same, and its answer is said.
    fleet.stage.hold_model();
    alice.say("#general", "@oak-bob say exactly settled");
    fleet.becomes("oak-bob", "working");
    let mut restart = fleet.start(&["restart", "oak-bob"]);
    eventually_seeing("its daemon to be asked", || {
        let kept = fleet.about()["kept"]["oak-bob"].clone();
        if kept["standing"] == "stopping" { Ok(()) } else { Err(kept.to_string()) }
    });
    fleet.stage.release_model();
    assert_eq!(restart.wait(), 0, "{}", restart.output());
    alice.hears("oak-bob", "#general", "settled");
    assert_eq!((fleet.epoch("oak-ada"), fleet.epoch("oak-bob")), (2, 3));
}

/// `--now` does not wait for the turn, which is no attempt of its message; the agent stays down.
#[test]
fn a_stop_in_haste_interrupts_the_turn() {
    let fleet = Fleet::new(&["oak-ada"]);
    fleet.up();
    let _ = fleet.run(&["prompt", "oak-ada", "sleep 300"]).ok();
    fleet.becomes("oak-ada", "working");
    let ran = fleet.run(&["stop", "oak-ada", "--now"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(fleet.interrupted("oak-ada"), ["asked again"]);
    assert_eq!(fleet.standing("oak-ada"), "stopped");
    let state = "SELECT state || ' ' || attempt FROM messages";
    assert_eq!(fleet.stage.query(state), ["accepted 0"]);
}

/// A daemon whose agent nobody keeps is told of and left; only an operator ends it.
#[test]
fn a_daemon_that_nobody_keeps_is_told_of_and_can_be_stopped() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    fleet.up();
    let _ = fleet.run(&["down", "--hub-only"]).ok();
    let bob = fleet.pid("oak-bob");
    let text = std::fs::read_to_string(&fleet.stage.config).unwrap();
    let (one, _) = text.split_once("  - nick: oak-bob").unwrap();
    std::fs::write(&fleet.stage.config, one).unwrap();
    fleet.up();
    let told = "runs, but is not among the configured agents agent=oak-bob";
    eventually("the warning", || fleet.hub_log().contains(told).then_some(()));
    assert_eq!(fleet.pid("oak-bob"), bob);
    assert_eq!(fleet.run(&["stop", "oak-bob"]).code, 0);
    gone(bob);
    assert_eq!(fleet.standing("oak-bob"), "off");
}

/// A hub that leaves the agents to something else starts none, and `down` ends them before it.
#[test]
fn a_hub_without_agents_leaves_their_start_to_others() {
    let fleet = Fleet::new(&["oak-ada"]);
    let ran = fleet.run(&["up", "-d", "--no-agents"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let ran = fleet.run(&["start", "oak-ada"]);
    assert_eq!(ran.code, 1);
    let hint = "systemctl --user start gangline-agent@oak-ada";
    assert!(ran.stderr.contains("--no-agents") && ran.stderr.contains(hint), "{}", ran.stderr);
    let mut daemon = fleet.world().start(&["--config", &fleet.stage.config, "daemon", "oak-ada"]);
    fleet.becomes("oak-ada", "idle");
    let mut alice = fleet.person("alice");
    fleet.stage.hold_model();
    alice.say("#general", "@oak-ada say exactly settled");
    fleet.becomes("oak-ada", "working");
    let mut down = fleet.start(&["down"]);
    down.says("oak-ada  in a turn on m1");
    fleet.stage.release_model();
    assert_eq!(down.wait(), 0, "{}", down.output());
    assert_eq!(daemon.wait(), 0, "{}", daemon.output());
    alice.hears("oak-ada", "#general", "settled");
    alice.wait("the server to end after its agent", |line| line.contains("QUIT").then_some(()));
}

/// SIGHUP: what is new is started, what is gone is drained, what is broken is refused as a whole.
#[test]
fn a_changed_configuration_is_taken_and_a_broken_one_refused() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    fleet.up();
    let (hub, ada, bob) = (fleet.hub(), fleet.pid("oak-ada"), fleet.pid("oak-bob"));
    let good = std::fs::read_to_string(&fleet.stage.config).unwrap();

    fleet.configure("  - nick: oak-cleo\n    agent: nativ\n    directory: /nowhere/at/all\n");
    send(hub, Signal::SIGHUP);
    eventually("the refusal", || fleet.about()["refused"].as_str().map(str::to_owned));
    assert!(fleet.hub_log().contains("the new configuration is refused"), "{}", fleet.hub_log());
    let ran = fleet.run(&["ps"]).ok();
    assert!(ran.contains("it rejected the changed configuration"), "{ran}");
    assert_eq!((fleet.pid("oak-ada"), fleet.pid("oak-bob")), (ada, bob), "the old one stays");

    std::fs::write(&fleet.stage.config, &good).unwrap();
    let more = fleet.another("oak-cleo");
    fleet.configure(&more);
    send(hub, Signal::SIGHUP);
    fleet.becomes("oak-cleo", "idle");
    let mut alice = fleet.person("alice");
    alice.say("#general", "@oak-cleo say exactly new-here");
    alice.hears("oak-cleo", "#general", "new-here");
    assert!(fleet.about()["refused"].is_null());

    let cleo = fleet.pid("oak-cleo");
    std::fs::write(&fleet.stage.config, good.replace("standin-oak-bob", "standin-other")).unwrap();
    let ran = fleet.run(&["up", "-d"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told =
        "note: oak-bob runs with earlier settings: `gangline restart oak-bob` applies the new ones";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    gone(cleo);
    fleet.becomes("oak-cleo", "off");
    assert_eq!((fleet.hub(), fleet.pid("oak-ada")), (hub, ada), "the same hub");
    assert_eq!(fleet.ps()["oak-bob"]["outdated"], true);
    let _ = fleet.run(&["restart", "oak-bob"]).ok();
    assert_eq!(fleet.ps()["oak-bob"]["outdated"], false);
}

/// Pain 21: an unknown name is an error that names the one that was meant.
#[test]
fn an_unknown_agent_is_refused_with_the_nearest_name() {
    let fleet = Fleet::new(&["oak-ada"]);
    for command in ["start", "stop", "restart", "pause", "resume", "interrupt"] {
        let ran = fleet.run(&[command, "oak-adda"]);
        assert_eq!(ran.code, 1, "{command}");
        let told = "error: there is no agent oak-adda\nhint: did you mean oak-ada?\n\
                    hint: known are oak-ada\n";
        assert_eq!(ran.stderr, told, "{command}");
    }
    assert_eq!(fleet.run(&["stop"]).code, 64, "nobody named");
}

/// An agent's shell neither stops nor starts its fellows, as it does not approve.
#[test]
fn an_agents_shell_does_not_run_the_fleet() {
    let mut fleet = Fleet::new(&["oak-ada"]);
    fleet.stage.world.set("GANGLINE_RUN", "x/oak-ada/1");
    for command in ["start", "stop", "restart", "pause", "resume", "interrupt"] {
        let ran = fleet.run(&[command, "oak-ada"]);
        assert_eq!(ran.code, 1, "{command}");
        assert!(ran.stderr.contains("GANGLINE_RUN"), "{command}: {}", ran.stderr);
    }
    let ran = fleet.run(&["down"]);
    assert!(ran.code == 1 && ran.stderr.contains("GANGLINE_RUN"), "{}", ran.stderr);
    assert!(!fleet.world().state().join("gangline.db").exists(), "nothing was written");
}

/// R1-44: on a server that is not ours no hub is needed: the command itself starts and ends.
#[test]
fn on_a_foreign_server_start_and_stop_need_no_hub() {
    if !ircd::is_there("ngircd") {
        return stage::skip(
            "fleet::on_a_foreign_server_start_and_stop_need_no_hub",
            "ngircd is not installed (Debian package `ngircd`)",
        );
    }
    let yaml = ("network: {embedded: false, trust_nicks: true}", "");
    let fleet = Fleet::with(env!("CARGO_BIN_EXE_gangline"), &["oak-ada"], yaml);
    let _server = Ngircd::default().start(fleet.world(), &fleet.stage.irc);
    let ran = fleet.run(&["start", "oak-ada"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let first = fleet.pid("oak-ada");
    let ran = fleet.run(&["restart", "oak-ada"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    gone(first);
    let second = fleet.pid("oak-ada");
    assert_ne!(first, second);
    let ran = fleet.run(&["stop", "oak-ada"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    gone(second);
    assert_eq!(fleet.standing("oak-ada"), "stopped");
}

/// What backends left in the folder for temporary files is gone with the next start, and nothing that
/// a link there points to; what cannot be removed is told, and holds nobody up.
#[test]
fn a_start_empties_the_folder_for_temporary_files() {
    let fleet = Fleet::new(&["oak-ada"]);
    let tmp = fleet.world().state().join("agents/oak-ada/tmp");
    let kept = fleet.world().file("elsewhere/kept", "kept");
    fs::create_dir_all(tmp.join("deep")).unwrap();
    fs::write(tmp.join("deep/left"), "").unwrap();
    let elsewhere = Path::new(&kept).parent().unwrap();
    symlink(elsewhere, tmp.join("link")).unwrap();
    fleet.up();
    let left = |folder: &Path| fs::read_dir(folder).unwrap().count();
    assert_eq!((left(&tmp), left(elsewhere)), (0, 1));
    let told = "cannot empty the folder";
    assert!(!fleet.run(&["logs", "oak-ada"]).ok().contains(told));
    let _ = fleet.run(&["stop", "oak-ada"]).ok();
    fs::remove_dir(&tmp).unwrap();
    symlink(elsewhere, &tmp).unwrap();
    let ran = fleet.run(&["start", "oak-ada"]);
    assert_eq!((ran.code, left(elsewhere)), (0, 1), "{}", ran.stderr);
    assert_eq!(fleet.run(&["logs", "oak-ada"]).ok().matches(told).count(), 1);
}

/// R1-48: a daemon that dies while the configuration is broken stays down, it is said where the fault
/// is, and it is back by itself once that is mended.
#[test]
fn an_agent_that_ended_by_a_broken_configuration_is_back_when_that_is_mended() {
    let fleet = Fleet::new(&["oak-ada", "oak-bob"]);
    fleet.up();
    let good = fs::read_to_string(&fleet.stage.config).unwrap();
    let lines = good.lines().count();
    fs::write(&fleet.stage.config, format!("{good}agentz: [\n")).unwrap();
    send(fleet.pid("oak-ada"), Signal::SIGKILL);
    fleet.becomes("oak-ada", "failed");
    let place = format!("the configuration is broken: {}:{}:", fleet.stage.config, lines + 1);
    let row = fleet.ps().remove("oak-ada").unwrap();
    let why = row["failed_because"].as_str().unwrap();
    assert!(why.starts_with(&place), "{why}");
    let ps = fleet.run(&["ps"]).ok();
    assert!(ps.contains(&format!("\noak-ada failed: {place}")), "{ps}");
    assert!(ps.contains(&format!("\nwarning: {place}")), "{ps}");
    let status = fleet.run(&["status", "oak-ada"]).ok();
    assert!(status.contains(&format!("its daemon is not running; {place}")), "{status}");
    assert_eq!(fleet.standing("oak-bob"), "idle", "what runs goes on");
    // Another fault is no mending.
    fs::write(&fleet.stage.config, format!("{good}agentz: 1\n  x: [\n")).unwrap();
    eventually("another try", || fleet.hub_log().contains("tried again").then_some(()));
    fleet.becomes("oak-ada", "failed");
    fs::write(&fleet.stage.config, &good).unwrap();
    fleet.becomes("oak-ada", "idle");
    let ps = fleet.run(&["ps"]).ok();
    assert!(!ps.contains("broken") && !ps.contains("failed"), "{ps}");
}
