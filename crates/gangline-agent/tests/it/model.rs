//! Another model, a new session, a shorter context: by the owner's words, over the socket and in the
//! room (R2-04, R2-06, R2-11). What the backend is started with.

use gangline_testkit::{IrcPeer, eventually};
use serde_json::{Value, json};

use crate::rig::{ADA, Daemon, ROOM, Rig};

const SCRIPT: &str = r#"
rules:
  - when: {user: 'detailed summary'}
    reply: [text: "<summary>we talked</summary>"]
  - when: {user: 'hold on'}
    reply: [text: "at last"]
  - reply: [text: "fine: turn ${turn}"]
"#;
const SHORTENED: &str = "SELECT count(*) FROM events WHERE kind = 'notice' AND payload LIKE '%the \
                         context was shortened%'";

fn rig(each: &str) -> Rig {
    Rig::unnamed(SCRIPT, "", each)
}

/// The newest request to the model.
fn last_request(rig: &Rig) -> Value {
    rig.requests().pop().unwrap()
}

fn last_model(rig: &Rig) -> String {
    last_request(rig)["model"].as_str().unwrap().to_owned()
}

fn ask(peer: &mut IrcPeer, text: &str) -> String {
    peer.say(ROOM, &format!("@lab-ada {text}"));
    peer.hears(ADA, ROOM, "fine: ")
}

/// Has the owner choose a model; `None` is that of the configuration.
fn chooses(daemon: &Daemon, model: Option<&str>) -> Value {
    let request = match model {
        Some(model) => json!({"type": "model", "model": model}),
        None => json!({"type": "model", "default": true}),
    };
    daemon.dial().ok(daemon.signed(request))
}

fn uses(daemon: &Daemon, model: &str) {
    daemon.dial().sees("the model to be used", |status| status["model"] == model);
}

fn another(rig: &Rig, daemon: Daemon) -> Daemon {
    daemon.kill();
    rig.start()
}

/// R2-04: the model is changed by the socket and by the owner's word in the room, in each case for the
/// next turn; it outlives the daemon and wins over agents.yaml until it is taken back.
#[test]
fn the_model_of_the_native_loop_is_changed() {
    let rig = rig("model: haiku");
    let daemon = rig.start();
    let (mut owner, mut ori) = (rig.owner("boss"), rig.member("ori"));
    ask(&mut ori, "one");
    assert!(last_model(&rig).contains("haiku"), "{}", last_model(&rig));
    let before = daemon.dial().ok(json!({"type": "model"}));
    assert_eq!(before, json!({"model": "haiku", "chosen": null}));
    let session = rig.query("SELECT session FROM agents");

    assert_eq!(chooses(&daemon, Some("sonnet"))["chosen"], "sonnet");
    uses(&daemon, "sonnet");
    ask(&mut ori, "two");
    assert!(last_model(&rig).contains("sonnet"), "{}", last_model(&rig));
    assert_eq!(rig.query("SELECT session FROM agents"), session, "the session is the same");

    let daemon = another(&rig, daemon);
    uses(&daemon, "sonnet");
    ask(&mut ori, "three");
    assert!(last_model(&rig).contains("sonnet"), "{}", last_model(&rig));

    // In the room: the owner, in mid-turn; a member may ask only.
    ori.say(ROOM, "@lab-ada model opus");
    ori.hears(ADA, ROOM, "only an owner may");
    ori.say(ROOM, "@lab-ada /model");
    ori.hears(ADA, ROOM, "I use `sonnet`");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada hold on");
    owner.say(ROOM, "@lab-ada /model opus");
    owner.hears(ADA, ROOM, "from the next turn on I use `opus`");
    drop(model);
    ori.hears(ADA, ROOM, "at last");
    uses(&daemon, "opus");
    assert!(last_model(&rig).contains("sonnet"), "{}", last_model(&rig));
    ask(&mut ori, "four");
    assert!(last_model(&rig).contains("opus"), "{}", last_model(&rig));

    assert_eq!(chooses(&daemon, None)["chosen"], Value::Null);
    uses(&daemon, "haiku");
    ask(&mut ori, "five");
    assert!(last_model(&rig).contains("haiku"), "{}", last_model(&rig));
    assert_eq!(rig.query("SELECT session FROM agents"), session);
    rig.sees(
        "SELECT DISTINCT state || ' ' || attempt FROM messages WHERE origin <> 'system'",
        &["answered 1"],
    );
    assert_eq!(daemon.stop().code, 0);
}

/// R2-04, R2-14: a backend without a word for its own model is started anew between two turns; the
/// agent is told of it, once, in its next prompt.
#[test]
fn a_backend_that_cannot_be_told_its_model_is_started_anew() {
    let rig = rig("");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ask(&mut ori, "one");
    assert!(!last_request(&rig).to_string().contains("you were restarted"));
    let own = last_model(&rig);
    chooses(&daemon, Some("haiku"));
    uses(&daemon, "haiku");
    ask(&mut ori, "two");
    assert!(last_model(&rig).contains("haiku"));
    assert!(!last_request(&rig).to_string().contains("you were restarted"));
    chooses(&daemon, None);
    daemon.dial().sees("the choice to be gone", |status| {
        status["model"] != "haiku" && status["phase"] == "idle"
    });
    ask(&mut ori, "three");
    assert_eq!(last_model(&rig), own);
    let prompts = last_request(&rig).to_string();
    assert!(prompts.contains("[gangline] you were restarted; your session continues"), "{prompts}");
    ask(&mut ori, "four");
    let prompts = last_request(&rig).to_string();
    assert_eq!(prompts.matches("you were restarted").count(), 1, "{prompts}");
    assert_eq!(daemon.stop().code, 0);
}

/// R2-06, R2-11: a new session and a shorter context, by the owner's words in the room and by the
/// socket; nobody else's.
#[test]
fn the_context_is_emptied_and_shortened_by_the_owner_s_word() {
    let rig = rig("");
    let daemon = rig.start();
    let (mut owner, mut ori) = (rig.owner("boss"), rig.member("ori"));
    ask(&mut ori, "remember plum");
    ask(&mut ori, "remember quince");
    ori.say(ROOM, "@lab-ada /new-session");
    ori.hears(ADA, ROOM, "only an owner may");
    owner.say(ROOM, "@lab-ada /compact");
    owner.hears(ADA, ROOM, "I shorten my context");
    rig.sees(SHORTENED, &["1"]);
    ask(&mut ori, "three");
    // The native loop keeps what it was told to do, word for word.
    let request = last_request(&rig).to_string();
    assert!(request.contains("<notes>"), "{request}");
    owner.say(ROOM, "@lab-ada new session");
    owner.hears(ADA, ROOM, "begins a new session");
    ask(&mut ori, "four");
    let request = last_request(&rig).to_string();
    assert!(!request.contains("<notes>") && !request.contains("three"), "{request}");

    ask(&mut ori, "five");
    daemon.owner("compact");
    rig.sees(SHORTENED, &["2"]);
    daemon.owner("clear");
    ask(&mut ori, "six");
    let request = last_request(&rig).to_string();
    assert!(!request.contains("<notes>") && !request.contains("five"), "{request}");
    assert_eq!(daemon.stop().code, 0);
}

fn primed(body: &Value) -> usize {
    let messages = body["messages"].as_array().unwrap();
    messages.iter().filter(|it| it.to_string().contains("prime yourself")).count()
}

/// R0-07, R3-15: an empty session is told what the configuration says before anything else; one
/// that goes on is not told again.
#[test]
fn an_empty_session_has_a_first_prompt() {
    let rig = rig("initial_prompt: prime yourself");
    let daemon = rig.start();
    rig.was_asked(1);
    let mut ori = rig.member("ori");
    ask(&mut ori, "one");
    let messages = last_request(&rig)["messages"].clone();
    assert!(messages[0].to_string().contains("prime yourself"), "{messages}");
    let daemon = another(&rig, daemon);
    ask(&mut ori, "two");
    assert_eq!(primed(&last_request(&rig)), 1);
    // A new session is as empty as the first.
    daemon.owner("clear");
    eventually("the first prompt of the new session", || {
        let request = last_request(&rig);
        let alone = request["messages"].as_array().unwrap().len() == 1;
        (alone && primed(&request) == 1).then_some(())
    });
    ask(&mut ori, "three");
    assert_eq!(primed(&last_request(&rig)), 1);
    assert!(!last_request(&rig).to_string().contains("@lab-ada two"));
    assert_eq!(daemon.stop().code, 0);
}

/// R0-07: the first prompt is a turn of its own, also when somebody waits; so it is in a session that
/// was emptied.
#[test]
fn a_first_prompt_is_not_mixed_with_what_waits() {
    let rig = rig("initial_prompt: prime yourself");
    rig.asked_at_the_command_line(&["say one".to_owned()]);
    let daemon = rig.start();
    let request = |number: usize| {
        rig.was_asked(number + 1);
        rig.requests()[number].to_string()
    };
    let is_in = |text: &str, word: &str| (text.contains("prime yourself"), text.contains(word));
    let seen = [request(0), request(1)];
    assert_eq!(is_in(&seen[0], "say one"), (true, false), "{}", seen[0]);
    assert_eq!(is_in(&seen[1], "say one"), (true, true), "{}", seen[1]);
    rig.sees("SELECT state FROM messages", &["answered"]);
    // Somebody waits when the session is emptied after a turn.
    let mut ori = rig.member("ori");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada hold on");
    daemon.owner("clear");
    rig.asked_at_the_command_line(&["say two".to_owned()]);
    drop(model);
    let seen = [request(3), request(4)];
    assert_eq!(is_in(&seen[0], "say two"), (true, false), "{}", seen[0]);
    assert_eq!(is_in(&seen[1], "say two"), (true, true), "{}", seen[1]);
    drop(daemon);
}

/// R2-06: a new session that was promised begins, whatever was asked for after it.
#[test]
fn a_new_session_is_not_forgotten_for_a_shorter_context() {
    a_new_session_is_not_forgotten("compact", "I shorten my context");
}

/// R2-04, R2-06: nor for another model, for which the backend is started anew.
#[test]
fn a_new_session_is_not_forgotten_for_another_model() {
    a_new_session_is_not_forgotten("model default", "the model of the configuration");
}

fn a_new_session_is_not_forgotten(word: &str, heard: &str) {
    let rig = rig("");
    let daemon = rig.start();
    let (mut owner, mut ori) = (rig.owner("boss"), rig.member("ori"));
    chooses(&daemon, Some("haiku"));
    ask(&mut ori, "remember plum");
    let model = rig.hold_model();
    rig.at_work(&mut ori, "@lab-ada hold on");
    owner.say(ROOM, "@lab-ada new session");
    owner.hears(ADA, ROOM, "begins a new session");
    owner.say(ROOM, &format!("@lab-ada {word}"));
    owner.hears(ADA, ROOM, heard);
    drop(model);
    ori.hears(ADA, ROOM, "at last");
    ask(&mut ori, "what now");
    let request = last_request(&rig).to_string();
    assert!(!request.contains("plum") && !request.contains("<notes>"), "{request}");
    assert_eq!(daemon.stop().code, 0);
}

/// R2-06, R0-16: the new session is the one that the next daemon goes on with.
#[test]
fn a_new_session_is_gone_on_with() {
    let rig = rig("");
    let daemon = rig.start();
    let (mut owner, mut ori) = (rig.owner("boss"), rig.member("ori"));
    ask(&mut ori, "remember plum");
    owner.say(ROOM, "@lab-ada new session");
    owner.hears(ADA, ROOM, "begins a new session");
    ask(&mut ori, "remember quince");
    let daemon = another(&rig, daemon);
    ask(&mut ori, "what now");
    let request = last_request(&rig).to_string();
    assert!(request.contains("quince") && !request.contains("plum"), "{request}");
    assert_eq!(daemon.stop().code, 0);
}

/// R0-64: what Gangline has no key for reaches the backend as it stands in the file, at each start.
#[test]
fn fields_that_only_the_backend_knows_reach_it_unchanged() {
    let each = "model: one\nicon: '*'\nengine: {a: [1, 2.5, true, ~, -3, '4'], b: {big: 18446744073709551615}}\n\
                extra: {permissons: strict}";
    let mut rig = rig(each);
    let noted = rig.noted_fields();
    for _ in 0..2 {
        let daemon = rig.start();
        assert_eq!(daemon.stop().code, 0);
    }
    let expected = json!({
        "icon": "*",
        "engine": {"a": [1, 2.5, true, null, -3, "4"], "b": {"big": u64::MAX}},
        "permissons": "strict",
    });
    let noted = noted.lock().unwrap().clone();
    assert_eq!(noted.len(), 2);
    for mut fields in noted {
        // The daemon's own word: it shortens the context itself.
        fields.remove("auto_compact");
        assert_eq!(json!(fields), expected);
    }
}
