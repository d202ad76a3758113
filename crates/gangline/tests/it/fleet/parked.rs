//! An agent whose backend cannot be kept running: what is said of it, and how it comes back. And what
//! is no trouble: a program that ends by itself when its work is done.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_testkit::{HookReply, HookServer, eventually};
use serde_json::json;

use super::Fleet;

/// Answers each line. Where a file says that it may end, it does so after the first one, when it is
/// told to by another file, which it takes away.
const ANSWERS: &str = r#"while :; do
    printf '$ '
    read -r line || exit 1
    echo "you said $line"
    [ ! -e "$0.once" ] || { printf '$ '; until rm "$0.end" 2>&-; do sleep 0.05; done; exit 0; }
done"#;

/// What is known of the program: so nobody waits for what may still come.
const QUICK: &str = r#"ready: ["$ "], settle_ms: 100, quiet_ms: 300"#;

/// Adds an agent in a terminal, with this program, which is not there yet.
fn with_program(fleet: &Fleet) -> PathBuf {
    let program = fleet.world().path("bin/program");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fleet.configure(&format!(
        "  - nick: oak-lee\n    directory: {}\n    agent: tmux\n    command: [{}]\n    \
         channels: [\"#general\"]\n    screen: {{{QUICK}}}\n",
        fleet.world().path("").display(),
        program.display()
    ));
    program
}

fn write(program: &Path, text: &str) {
    fs::write(program, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// R0-53, R1-46: whoever starts it, or looks at it, is told why it does not start and what to do.
#[test]
fn a_backend_that_cannot_be_started_is_parked_with_its_reason() {
    let fleet = Fleet::new(&["oak-ada"]);
    let program = with_program(&fleet);
    let ran = fleet.run(&["up", "-d", "--restart-delay-max", "1"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let shown = program.display().to_string();
    let why = |text: &str| text.contains("cannot start") && text.contains(&shown);
    let line = |text: &str, begin: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(begin));
        line.unwrap_or_else(|| panic!("{begin} in {text}")).to_owned()
    };
    let told = line(&ran.stderr, "oak-lee  parked: ");
    assert!(why(&told), "{told}");
    assert!(told.ends_with("; fix that, then `gangline resume oak-lee`"), "{told}");
    let status = fleet.run(&["status", "oak-lee"]).ok();
    assert!(line(&status, "doing").contains("parked until `resume`: cannot start"), "{status}");
    let waits = line(&status, "waits for");
    assert!(waits.contains("`gangline resume oak-lee`, once this is fixed"), "{waits}");
    assert!(why(&waits), "{waits}");
    let row = fleet.ps().remove("oak-lee").unwrap();
    let waits = &row["waiting_for"][0];
    assert_eq!((&row["standing"], &waits["type"]), (&json!("parked"), &json!("resume")));
    assert!(why(waits["why"].as_str().unwrap()), "{row}");
    assert!(line(&fleet.run(&["ps"]).ok(), "oak-lee").contains(" resume"));
    let doctor = fleet.run(&["doctor", "oak-lee"]);
    assert_eq!(doctor.code, 1, "{}", doctor.stdout);
    assert!(why(&line(&doctor.stdout, "fail  status")), "{}", doctor.stdout);
    let then = "-> fix that, then `gangline resume oak-lee`";
    assert!(doctor.stdout.contains(then), "{}", doctor.stdout);
    // It ends by itself as often, and says that all is well: another reason.
    write(&program, "exit 0");
    let ran = fleet.run(&["restart", "oak-lee"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let told = line(&ran.stderr, "oak-lee  parked: ");
    let itself = "the process exited with code 0 before it was ready for prompts";
    assert!(told.contains(itself), "{told}");
    write(&program, ANSWERS);
    let _ = fleet.run(&["resume", "oak-lee"]).ok();
    fleet.becomes("oak-lee", "idle");
    assert_eq!(fleet.ps()["oak-lee"]["waiting_for"], json!([]));
}

/// R1-09, R1-40, R1-42, R1-46, C11: a crash is told in the channel and at the webhook; here by the agent
/// itself, and marked as a program's.
#[test]
fn a_crash_is_told_in_the_channel_and_at_the_webhook() {
    let server = HookServer::start(vec![HookReply::status(204)]);
    let more = format!(
        "webhooks:\n  url: {}\n  allow_hosts: [127.0.0.1]\n  events: [agent_error]\nalerts: \
         {{as_agent: true}}",
        server.url("/")
    );
    let fleet = Fleet::with(env!("CARGO_BIN_EXE_gangline"), &["oak-ada"], (&more, ""));
    write(&with_program(&fleet), "printf '$ '\nread -r line\nexit 1");
    fleet.up();
    let mut ori = fleet.stage.owner("ori");
    ori.join("#alerts");
    assert_eq!(fleet.run(&["prompt", "oak-lee", "x"]).code, 0);
    let crashed = "[ERROR] oak-lee crashed: process exited with code 1";
    assert_eq!(ori.hears("oak-lee", "#alerts", "[ERROR]"), crashed);
    let line = ori.lines().into_iter().find(|line| line.contains(crashed)).unwrap();
    let (tags, rest) = line.split_once(' ').unwrap();
    assert!(tags.split(';').any(|tag| tag.trim_start_matches('@') == "bot"), "{line}");
    assert!(rest.contains("NOTICE #alerts"), "{line}");
    let got = server.next(Duration::from_secs(30)).unwrap();
    assert_eq!(got.body, json!({"content": crashed}).to_string());
}

/// R0-20, R0-22: a program that has answered and then ends with code 0 has not crashed; it is started
/// again, as often as it does so.
#[test]
fn a_program_that_ends_by_itself_after_its_work_is_started_again() {
    let fleet = Fleet::new(&["oak-ada"]);
    let program = with_program(&fleet);
    write(&program, ANSWERS);
    let file = |name: &str| fs::write(format!("{}.{name}", program.display()), "").unwrap();
    file("once");
    fleet.up();
    for number in 1..=3 {
        let text = format!("word-{number}");
        let told = fleet.run(&["prompt", "oak-lee", &text, "--wait"]).ok();
        assert!(told.contains("you said") && told.contains(&text), "{told}");
        file("end");
        let ends = "SELECT count(*) FROM events WHERE agent = 'oak-lee' AND kind = 'notice' \
                    AND payload LIKE '%the backend exited with code 0; it is restarted%'";
        eventually("its end", || (fleet.stage.query(ends) == [number.to_string()]).then_some(()));
    }
    let logs = fleet.run(&["logs", "oak-lee"]).ok();
    let ended = "ended: the backend exited with code 0; it is restarted";
    assert_eq!((logs.matches(ended).count(), logs.contains("crashed")), (3, false), "{logs}");
    fleet.becomes("oak-lee", "idle");
}

/// R2-04: a model that would have no effect is not chosen, neither here nor in the room.
#[test]
fn a_model_is_not_chosen_where_nothing_says_how() {
    let fleet = Fleet::new(&["oak-ada"]);
    write(&with_program(&fleet), ANSWERS);
    fleet.up();
    let ran = fleet.run(&["model", "oak-lee", "opus"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let said = "error: Gangline does not know how to set the model of oak-lee's program\n";
    assert!(ran.stderr.starts_with(said), "{}", ran.stderr);
    assert!(ran.stderr.contains("`screen: {model: [--model, \"{model}\"]}`"), "{}", ran.stderr);
    let mut owner = fleet.stage.owner("boss");
    owner.say("#general", "@oak-lee model opus");
    owner.hears("oak-lee", "#general", "I do not know how to change my program's model");
    let shown = fleet.run(&["model", "oak-lee"]).ok();
    assert_eq!(shown, "oak-lee uses its backend's default model\n");
    let _ = fleet.run(&["model", "oak-lee", "--default"]).ok();
    // Its entry has the words.
    let text = fs::read_to_string(&fleet.stage.config).unwrap();
    let words = format!("model: [--model, \"{{model}}\"], {QUICK}");
    fs::write(&fleet.stage.config, text.replace(QUICK, &words)).unwrap();
    let told = fleet.run(&["model", "oak-lee", "opus"]).ok();
    assert!(told.contains("oak-lee uses opus: chosen"), "{told}");
}
