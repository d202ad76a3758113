//! Another backend in the place of Claude Code and back: the real program and the native loop, each
//! with its own session and its own model (R3-17).

use std::fs;

use gangline_testkit::{IrcPeer, eventually};
use serde_json::{Value, json};

use crate::claude::{Rig, kill_hard};

const NICK: &str = "lab-ada";

/// An installation whose registry says where the model of the native loop is.
fn rig(each: &str) -> Rig {
    let mut rig = Rig::new(&[NICK], None, each);
    rig.world.set("NATIVE_KEY", "sk-of-the-native-loop");
    let yaml = fs::read_to_string(&rig.config).unwrap();
    let url = yaml.split_once("base_url: ").unwrap().1.split_once('\n').unwrap().0;
    let entries = json!({"runtimes": {"native": {"base_url": url, "api_key_env": "NATIVE_KEY"}}});
    let _ = rig.world.file("config/gangline/runtimes.json", &entries.to_string());
    rig
}

fn status(rig: &Rig) -> Value {
    rig.world.run(&["--config", &rig.config, "status", NICK, "--json"]).json()
}

/// What is really used, and what is configured if that is another.
fn runtime(rig: &Rig) -> (Value, Value) {
    let status = status(rig);
    (status["runtime"].clone(), status["configured_runtime"].clone())
}

fn session(rig: &Rig) -> String {
    rig.query("SELECT session FROM agents").remove(0)
}

/// Says something and has it answered; returns what the model was asked.
fn says(rig: &Rig, peer: &mut IrcPeer, word: &str) -> String {
    peer.say("#general", &format!("@{NICK} say exactly {word}"));
    peer.hears(NICK, "#general", word);
    // The program asks for more than an answer; the conversation is the newest that has the word.
    rig.request_with(word)
}

fn notices(rig: &Rig, part: &str) -> usize {
    let all = rig.query("SELECT payload FROM events WHERE kind = 'notice'");
    all.iter().filter(|text| text.contains(part)).count()
}

/// R3-17: an agent of the real program is restarted with the native loop, over the death of
/// daemon and hub, and then again with the program: each goes on with its own session, and neither
/// is given what is the other's.
#[test]
fn an_agent_changes_its_backend_and_goes_back_to_its_own_session() {
    let rig = rig("thinking: low");
    let hub = rig.up();
    let mut ori = rig.member("ori");
    let run = |args: &[&str]| {
        let mut all = vec!["--config", &rig.config];
        all.extend(args);
        rig.world.run(&all)
    };
    let _ = says(&rig, &mut ori, "first");
    let of_claude = session(&rig);
    assert_eq!(runtime(&rig), (json!("claude"), Value::Null));
    let _ = run(&["model", NICK, "sonnet"]).ok();

    let ran = run(&["restart", NICK, "--runtime", "native"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let told = "lab-ada gets native instead of claude; these of its keys have no effect now: \
                command, base_url, api_key_env\n";
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
    assert_eq!(runtime(&rig), (json!("native"), json!("claude")));
    let ps = run(&["ps"]).ok();
    assert!(ps.contains("native (--runtime)"), "{ps}");
    let shown = run(&["status", NICK]).ok();
    assert!(shown.contains("runtime   native instead of claude, by --runtime"), "{shown}");
    assert!(rig.world.processes_like("stream-json").is_empty(), "the program is gone");
    let asked = says(&rig, &mut ori, "second");
    assert!(!asked.contains("exactly first") && asked.contains("your session is new"), "{asked}");
    assert!(!asked.contains("sonnet\"") && !asked.contains("--session-id"), "{asked}");
    let of_native = session(&rig);
    assert_ne!(of_native, of_claude);
    assert_eq!(
        (notices(&rig, "instead of `claude`"), notices(&rig, "begins a new session")),
        (1, 1)
    );

    // Nobody has to say it again: the daemon dies, the hub ends.
    let old = rig.world.processes_like("daemon lab-ada");
    old.iter().copied().for_each(kill_hard);
    let asked = says(&rig, &mut ori, "third");
    assert!(asked.contains("exactly second"), "{asked}");
    let mut hub = hub;
    assert_eq!(hub.terminate(), 0, "{}", hub.output());
    let hub = rig.up();
    assert!(hub.output().contains("note: --runtime: lab-ada gets native"), "{}", hub.output());
    assert_eq!((runtime(&rig).0, session(&rig)), (json!("native"), of_native.clone()));
    assert_eq!(notices(&rig, "begins a new session"), 1, "told once");

    let mut ori = rig.member("ori");
    let ran = run(&["restart", NICK, "--runtime", "claude"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("lab-ada gets claude again, as configured"), "{}", ran.stderr);
    assert_eq!(runtime(&rig), (json!("claude"), Value::Null));
    assert_eq!(session(&rig), of_claude);
    let asked = says(&rig, &mut ori, "fourth");
    assert!(asked.contains("exactly first") && !asked.contains("exactly second"), "{asked}");
    assert!(asked.contains("your session is intact") && asked.contains("sonnet"), "{asked}");
    assert_eq!(notices(&rig, "continues its own session"), 1);
    rig.put_away(hub);
}

/// R0-16, R2-14: another `agent:` in the configuration is not handed the session of the one before.
#[test]
fn another_backend_in_the_configuration_begins_a_session_of_its_own() {
    let rig = rig("");
    let hub = rig.up();
    let mut ori = rig.member("ori");
    let _ = says(&rig, &mut ori, "first");
    let of_claude = session(&rig);
    let yaml = fs::read_to_string(&rig.config).unwrap();
    let restart = |text: &str| {
        fs::write(&rig.config, text).unwrap();
        assert_eq!(rig.world.run(&["--config", &rig.config, "restart", NICK]).code, 0);
    };
    restart(&yaml.replace("agent: claude", "agent: native"));
    assert_eq!(runtime(&rig), (json!("native"), Value::Null), "nothing was put in its place");
    let asked = says(&rig, &mut ori, "second");
    assert!(!asked.contains("exactly first") && asked.contains("your session is new"), "{asked}");
    assert_eq!(notices(&rig, "the session of `claude` continues"), 1);
    restart(&yaml);
    eventually("its session", || (session(&rig) == of_claude).then_some(()));
    let asked = says(&rig, &mut ori, "third");
    assert!(asked.contains("exactly first") && asked.contains("your session is intact"), "{asked}");
    rig.put_away(hub);
}
