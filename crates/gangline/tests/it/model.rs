//! Another model, a new session, a shorter context: by the owner's words, on the command line and
//! in the room (R2-04, R2-06, R2-11). What the native loop does with them is tested in
//! `gangline-agent`.

use std::fs;

use gangline_testkit::{IrcPeer, Stage, eventually};
use serde_json::{Value, json};

use crate::claude::Rig;

const SCRIPT: &str = r#"
rules:
  - when: {user: 'detailed summary'}
    reply: [text: "<summary>we talked</summary>"]
  - when: {user: 'hold on'}
    reply: [text: "at last"]
  - reply: [text: "fine: turn ${turn}"]
"#;

/// An installation with one agent; `each` is its YAML.
fn rig(each: &str) -> Rig {
    Rig::new(&["lab-ada"], Some(SCRIPT), each)
}

/// The newest request to the model.
fn last_request(rig: &Rig) -> Value {
    let text = fs::read_to_string(rig.requests().last().unwrap()).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    json.get("body").cloned().unwrap_or(json)
}

fn last_model(rig: &Rig) -> String {
    last_request(rig)["model"].as_str().unwrap().to_owned()
}

fn ask(peer: &mut IrcPeer, text: &str) -> String {
    peer.say("#general", &format!("@lab-ada {text}"));
    peer.hears("lab-ada", "#general", "fine: ")
}

/// What `gangline model` tells.
fn told(rig: &Rig, args: &[&str]) -> Value {
    let mut all = vec!["--config", &rig.config, "--json", "model", "lab-ada"];
    all.extend(args);
    rig.world.run(&all).json()
}

fn uses(rig: &Rig, model: &str) {
    eventually("the model to be used", || (used(rig) == model).then_some(()));
}

/// The model that the status names.
fn used(rig: &Rig) -> String {
    let model = "SELECT coalesce(json_extract(status_json, '$.model'), '') FROM agents";
    rig.query(model).concat()
}

fn daemon_dies(rig: &Rig) {
    // A program that it starts has its command line for a moment.
    let old = eventually("one daemon", || {
        let found = rig.world.processes_like("daemon lab-ada");
        (found.len() == 1).then_some(found)
    });
    let before = rig.query("SELECT epoch FROM agents");
    old.iter().copied().for_each(crate::claude::kill_hard);
    eventually("another daemon to be idle", || {
        let idle = "SELECT epoch FROM agents WHERE ready_at IS NOT NULL AND phase = 'idle'";
        let now = rig.query(idle);
        (!now.is_empty() && now != before).then_some(())
    });
}

/// R2-04: the model is changed by the command line and by the owner's word in the room, in each
/// case for the next turn; it outlives the daemon and wins over agents.yaml until it is taken back.
fn the_model_is_changed(each: &str) {
    let rig = rig(&format!("model: haiku\n{each}"));
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    ask(&mut ori, "one");
    assert!(last_model(&rig).contains("haiku"), "{}", last_model(&rig));
    let before = told(&rig, &[]);
    assert_eq!(
        before,
        json!({"agent": "lab-ada", "model": "haiku", "from": "configuration",
               "configured": "haiku", "used": "haiku"})
    );
    let session = rig.query("SELECT session FROM agents");

    let changed = told(&rig, &["sonnet"]);
    assert_eq!((&changed["model"], &changed["from"]), (&json!("sonnet"), &json!("chosen")));
    uses(&rig, "sonnet");
    ask(&mut ori, "two");
    assert!(last_model(&rig).contains("sonnet"), "{}", last_model(&rig));
    assert_eq!(rig.query("SELECT session FROM agents"), session, "the session is the same");

    daemon_dies(&rig);
    uses(&rig, "sonnet");
    ask(&mut ori, "three");
    assert!(last_model(&rig).contains("sonnet"), "{}", last_model(&rig));

    // In the room: the owner, in mid-turn; a member may ask only.
    ori.say("#general", "@lab-ada model opus");
    ori.hears("lab-ada", "#general", "only an owner may");
    ori.say("#general", "@lab-ada /model");
    ori.hears("lab-ada", "#general", "I use `sonnet`");
    rig.at_work(&mut ori, "@lab-ada hold on");
    owner.say("#general", "@lab-ada /model opus");
    owner.hears("lab-ada", "#general", "from the next turn on I use `opus`");
    rig.model_goes_on();
    ori.hears("lab-ada", "#general", "at last");
    uses(&rig, "opus");
    assert!(last_model(&rig).contains("sonnet"), "{}", last_model(&rig));
    ask(&mut ori, "four");
    assert!(last_model(&rig).contains("opus"), "{}", last_model(&rig));

    let back = told(&rig, &["--default"]);
    assert_eq!((&back["model"], &back["from"]), (&json!("haiku"), &json!("configuration")));
    uses(&rig, "haiku");
    ask(&mut ori, "five");
    assert!(last_model(&rig).contains("haiku"), "{}", last_model(&rig));
    assert_eq!(rig.query("SELECT session FROM agents"), session);
    let states = "SELECT DISTINCT state || ' ' || attempt FROM messages WHERE origin <> 'system'";
    assert_eq!(rig.query(states), ["answered 1"]);
    rig.put_away(hub);
}

/// R2-04: hyperhive's file names the model of the next turn until somebody chooses one.
#[test]
fn hyperhives_file_of_the_model_wins_over_the_configuration() {
    let mut rig = rig("model: haiku\n");
    let file = rig.world.path("hyperhive-model");
    std::fs::write(&file, "sonnet\n").unwrap();
    rig.world.set("HYPERHIVE_MODEL_FILE", &file.display().to_string());
    let hub = rig.up();
    let mut ori = rig.member("ori");
    ask(&mut ori, "one");
    assert!(last_model(&rig).contains("sonnet"), "{}", last_model(&rig));
    let _ = told(&rig, &["opus"]);
    uses(&rig, "opus");
    ask(&mut ori, "two");
    assert!(last_model(&rig).contains("opus"), "{}", last_model(&rig));
    rig.put_away(hub);
}

#[test]
fn the_model_of_a_resident_claude_is_changed() {
    the_model_is_changed("");
}

#[test]
fn the_model_of_a_claude_per_turn_is_changed() {
    the_model_is_changed("process: per_turn");
}

/// R2-04, C39: the program's own model comes back, though a resumed session would keep the other.
#[test]
fn the_model_that_nobody_named_comes_back() {
    for each in ["", "process: per_turn"] {
        let rig = rig(each);
        let hub = rig.up();
        let mut ori = rig.member("ori");
        ask(&mut ori, "one");
        let own = last_model(&rig);
        uses(&rig, &own);
        assert_eq!(told(&rig, &[])["from"], "backend");
        told(&rig, &["haiku"]);
        uses(&rig, "haiku");
        ask(&mut ori, "two");
        assert!(last_model(&rig).contains("haiku"));
        assert_eq!(told(&rig, &["--default"])["model"], Value::Null);
        eventually("the choice to be gone", || (used(&rig) != "haiku").then_some(()));
        ask(&mut ori, "three");
        assert_eq!(last_model(&rig), own);
        rig.put_away(hub);
    }
}

/// R2-04: a choice for an agent that does not run counts from its start on; what is no name is
/// refused, and an agent may not choose for itself.
#[test]
fn a_choice_waits_for_the_daemon() {
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &["lab-ada"], Some(SCRIPT), ("", ""));
    let _hub = stage.up();
    let (world, config) = (&stage.world, &*stage.config);
    let mut ori = stage.member("ori");
    let told = || world.run(&["--config", config, "--json", "model", "lab-ada"]).json();
    let own = "standin-lab-ada";
    let before = json!({"agent": "lab-ada", "model": own, "from": "configuration",
                        "configured": own, "used": own});
    assert_eq!(told(), before);
    let _ = world.run(&["stop", "lab-ada"]).ok();
    let text = world.run(&["--config", config, "model", "lab-ada", "sonnet"]).ok();
    assert_eq!(text, "lab-ada uses sonnet: chosen (agents.yaml: standin-lab-ada)\n");
    let bad = world.run(&["model", "lab-ada", "two words"]);
    assert!(bad.code != 0 && bad.stderr.contains("one word"), "{bad:?}");
    let both = world.run(&["model", "lab-ada", "x", "--default"]);
    assert!(both.code != 0, "{both:?}");
    // R0-65: the effort has the same life.
    let text = world.run(&["--config", config, "effort", "lab-ada", "high"]).ok();
    assert_eq!(text, "lab-ada thinks with effort high: chosen\n");
    let bad = world.run(&["--config", config, "effort", "lab-ada", "xhigh"]);
    let refused = "error: the backend of lab-ada has no effort `xhigh`\n\
                   hint: choose one of: off, low, medium, high\n";
    assert_eq!((bad.code, &*bad.stderr), (1, refused));
    let json = world.run(&["--config", config, "--json", "effort", "lab-ada"]).json();
    let expected = json!({"agent": "lab-ada", "effort": "high", "from": "chosen", "configured": null,
                          "levels": ["off", "low", "medium", "high"]});
    assert_eq!(json, expected);
    let text = world.run(&["--config", config, "effort", "lab-ada", "--default"]).ok();
    assert_eq!(text, "lab-ada thinks with its backend's default effort\n");
    let mut marked = world.command(&["model", "lab-ada", "opus"]);
    let marked = marked.env("GANGLINE_RUN", "some/lab-ada/1").output().unwrap();
    assert!(!marked.status.success(), "{marked:?}");
    let gone = world.run(&["compact", "lab-ada"]);
    assert!(gone.code != 0 && gone.stderr.contains("not running"), "{gone:?}");
    let _ = world.run(&["start", "lab-ada"]).ok();
    ask(&mut ori, "one");
    let used = "SELECT json_extract(status_json, '$.model') FROM agents";
    eventually("the chosen model to be used", || (stage.query(used) == ["sonnet"]).then_some(()));
    assert_eq!((&told()["used"], &told()["from"]), (&json!("sonnet"), &json!("chosen")));
    let told = world.run(&["compact", "lab-ada"]).ok();
    assert!(told.contains("shortens its context"), "{told}");
    let told = world.run(&["clear", "lab-ada"]).ok();
    assert!(told.contains("begins a new session"), "{told}");
}

/// R2-06, R2-11: a new session and a shorter context, by the owner's words in the room and on the
/// command line; nobody else's.
#[test]
fn the_context_is_emptied_and_shortened_by_the_owner_s_word() {
    for each in ["process: per_turn", ""] {
        let rig = rig(each);
        let hub = rig.up();
        let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
        ask(&mut ori, "remember plum");
        ask(&mut ori, "remember quince");
        ori.say("#general", "@lab-ada /new-session");
        ori.hears("lab-ada", "#general", "only an owner may");
        owner.say("#general", "@lab-ada /compact");
        owner.hears("lab-ada", "#general", "I shorten my context");
        let shortened = "SELECT count(*) FROM events WHERE kind = 'notice' AND payload LIKE \
                         '%the context was shortened%'";
        eventually("the context to be shorter", || (rig.query(shortened) == ["1"]).then_some(()));
        ask(&mut ori, "three");
        let request = last_request(&rig).to_string();
        let mark = "we talked";
        // As a prompt it is gone; the checkpoint quotes it in other words.
        let prompt = "<ori> @lab-ada remember plum";
        assert!(request.contains(mark) && !request.contains(prompt), "{request}");
        owner.say("#general", "@lab-ada new session");
        owner.hears("lab-ada", "#general", "begins a new session");
        ask(&mut ori, "four");
        let request = last_request(&rig).to_string();
        assert!(!request.contains(mark) && !request.contains("three"), "{request}");

        ask(&mut ori, "five");
        let told = rig.world.run(&["compact", "lab-ada"]).ok();
        assert!(told.contains("shortens its context"), "{told}");
        eventually("the context to be shorter again", || {
            (rig.query(shortened) == ["2"]).then_some(())
        });
        let told = rig.world.run(&["clear", "lab-ada"]).ok();
        assert!(told.contains("begins a new session"), "{told}");
        ask(&mut ori, "six");
        let request = last_request(&rig).to_string();
        assert!(!request.contains(mark) && !request.contains("five"), "{request}");
        let _ = rig.world.run(&["stop", "lab-ada"]).ok();
        let gone = rig.world.run(&["compact", "lab-ada"]);
        assert!(gone.code != 0 && gone.stderr.contains("not running"), "{gone:?}");
        rig.put_away(hub);
    }
}

/// R2-06, R0-21: a new session that was promised begins, whoever dies before it does: the program
/// or the whole daemon.
#[test]
fn a_new_session_is_not_forgotten_when_somebody_dies() {
    for victim in ["program", "daemon"] {
        let rig = rig("");
        let hub = rig.up();
        let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
        ask(&mut ori, "remember plum");
        rig.at_work(&mut ori, "@lab-ada hold on");
        owner.say("#general", "@lab-ada new session");
        owner.hears("lab-ada", "#general", "begins a new session");
        match victim {
            "daemon" => daemon_dies_in_a_turn(&rig),
            _ => crate::claude::kill_hard(program_of(&rig)),
        }
        rig.model_goes_on();
        ori.hears("lab-ada", "#general", "at last");
        ask(&mut ori, "what now");
        let request = last_request(&rig).to_string();
        assert!(!request.contains("plum"), "{victim}: {request}");
        rig.put_away(hub);
    }
}

/// R2-06, R0-16: the new session is the one that the next daemon goes on with.
#[test]
fn a_new_session_is_gone_on_with() {
    let rig = rig("");
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    ask(&mut ori, "remember plum");
    owner.say("#general", "@lab-ada new session");
    owner.hears("lab-ada", "#general", "begins a new session");
    ask(&mut ori, "remember quince");
    daemon_dies(&rig);
    ask(&mut ori, "what now");
    let request = last_request(&rig).to_string();
    assert!(request.contains("quince") && !request.contains("plum"), "{request}");
    rig.put_away(hub);
}

/// A backend that dies while it shortens its context no longer does, and that is told.
#[test]
fn a_compaction_ends_with_its_backend() {
    let slow = SCRIPT.replace("reply: [text: \"<sum", "reply: [delay_ms: 600000, text: \"<sum");
    let rig = Rig::new(&["lab-ada"], Some(&slow), "");
    let hub = rig.up();
    let (mut owner, mut ori) = (rig.owner(), rig.member("ori"));
    ask(&mut ori, "remember plum");
    owner.say("#general", "@lab-ada compact");
    let compacting =
        || rig.world.run(&["status", "lab-ada", "--json"]).json()["compacting"].clone();
    eventually("the compaction", || (compacting() == true).then_some(()));
    crate::claude::kill_hard(program_of(&rig));
    eventually("the end of the compaction", || (compacting() == false).then_some(()));
    let told = "SELECT count(*) FROM events WHERE kind = 'notice' AND payload LIKE \
                '%ended before its context was shorter%'";
    eventually("a notice", || (rig.query(told) == ["1"]).then_some(()));
    ask(&mut ori, "go on");
    rig.put_away(hub);
}

/// The process of the agent's program.
fn program_of(rig: &Rig) -> i32 {
    let found = rig.world.processes_like("--print --verbose");
    *found.first().unwrap()
}

fn daemon_dies_in_a_turn(rig: &Rig) {
    for daemon in rig.world.processes_like("daemon lab-ada") {
        crate::claude::kill_hard(daemon);
    }
}
