//! The container profile: S2's places, and who speaks for the agent there.

use std::fs;

use serde_json::{Value, json};

use crate::rig::{ADA, ROOM, Rig};

const SCRIPT: &str = r##"
rules:
  - when: {user: 'say exactly (\w+)'}
    reply: [text: "$1"]
  - when: {user: 'shell: (.+)'}
    reply: [tool_use: {name: Bash, input: {command: "$1"}}]
  - when: {tool: Bash}
    reply: [text: "the shell is done"]
  - reply: [text: "I am awake"]
"##;
const CONTAINED: &str = "profile: container\npermissions: bypass\n";
const NOTES: &str = "SELECT state FROM messages WHERE origin = 'system' ORDER BY id";

fn given(rig: &Rig) -> String {
    rig.requests().pop().unwrap_or(Value::Null)["messages"].to_string()
}

/// R2-12, R2-14, C32: it works in the mounted folder, finds its notes there, and each start wakes it.
#[test]
fn a_contained_agent_works_in_its_mounted_folder_and_is_woken_by_its_start() {
    let rig = Rig::native(SCRIPT, CONTAINED).contained(true);
    let daemon = rig.start();
    rig.sees(NOTES, &["answered"]);
    let mount = rig.mount("").display().to_string();
    let mount = mount.trim_end_matches('/');
    let told = format!(
        "[gangline] you were just (re)started; check {mount}/notes for your notes; your session is \
         new, and your files are in {mount} as you left them"
    );
    assert!(given(&rig).contains(&told), "{told} in {}", given(&rig));
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada shell: pwd > here; echo $GANGLINE_STATE_DIR >> here");
    ori.hears(ADA, ROOM, "the shell is done");
    assert_eq!(fs::read_to_string(rig.mount("here")).unwrap(), format!("{mount}\n{mount}\n"));
    assert!(rig.mount("notes").is_dir());
    assert_eq!(daemon.stop().code, 0);
    let daemon = rig.start();
    rig.sees(NOTES, &["answered", "answered"]);
    assert!(given(&rig).contains("your session is intact"), "{}", given(&rig));
    assert_eq!(daemon.stop().code, 0);
}

/// R2-31, R2-33, C21: whoever can connect to the container's socket is the agent, whatever is shown; at
/// the ordinary socket a wrong token is refused as ever.
#[test]
fn whoever_reaches_the_containers_socket_speaks_for_the_agent() {
    let rig = Rig::native(SCRIPT, &format!("{CONTAINED}restart_note: off\n")).contained(true);
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    let mut open = rig.dial_container();
    let send = |text: &str| json!({"type": "irc_send", "channel": ROOM, "message": text, "token": "glt_wrong"});
    open.ok(send("from the container"));
    ori.hears(ADA, ROOM, "from the container");
    assert_eq!(daemon.dial().error(send("x")), "wrong or outdated token");
    // The agent's rights, not the owner's.
    let pause = daemon.signed(json!({"type": "pause"}));
    assert_eq!(open.error(pause), "this needs the owner's token");
    let wake = r#"{"cmd":"wake","from":"matrix","body":"say exactly hello"}"#;
    assert_eq!(open.exchange(wake), r#"{"ok":true}"#);
    rig.sees(
        "SELECT tier || ' ' || state FROM messages WHERE origin = 'wake'",
        &["agent answered"],
    );
    assert_eq!(daemon.stop().code, 0);
    assert!(!rig.mount("../hive/mcp.sock").exists(), "the socket goes with the daemon");
}

/// R2-12: without the mount it works where it is configured, and people are told.
#[test]
fn without_the_mount_it_works_where_it_is_configured() {
    let rig = Rig::native(SCRIPT, CONTAINED).contained(false);
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada shell: pwd > here; echo $GANGLINE_STATE_DIR >> here");
    ori.hears(ADA, ROOM, "the shell is done");
    let (work, state) = (rig.work("").display().to_string(), rig.state("").display().to_string());
    let expect = format!("{}\n{}\n", work.trim_end_matches('/'), state.trim_end_matches('/'));
    assert_eq!(fs::read_to_string(rig.work("here")).unwrap(), expect);
    let notices = rig.query("SELECT payload FROM events WHERE payload LIKE '%no_state%'");
    assert!(notices[0].contains("`profile: container`, and there is no "), "{notices:?}");
    assert_eq!(daemon.stop().code, 0);
}
