//! An agent whose backend cannot be kept running: what is said of it, and how it comes back.

use std::{fs, os::unix::fs::PermissionsExt as _};

use serde_json::json;

use super::Fleet;

/// An agent in a terminal with this program, which is not there yet.
fn with_program(fleet: &Fleet) -> std::path::PathBuf {
    let program = fleet.world().path("bin/program");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fleet.configure(&format!(
        "  - nick: oak-lee\n    directory: {}\n    agent: tmux\n    command: [{}]\n",
        fleet.world().path("").display(),
        program.display()
    ));
    program
}

fn write(program: &std::path::Path, text: &str) {
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
    assert!(told.ends_with("; mend that, then `gangline resume oak-lee`"), "{told}");
    let status = fleet.run(&["status", "oak-lee"]).ok();
    assert!(line(&status, "doing").contains("parked until `resume`: cannot start"), "{status}");
    let waits = line(&status, "waits for");
    assert!(waits.contains("`gangline resume oak-lee`, once this is mended") && why(&waits));
    let row = fleet.ps().remove("oak-lee").unwrap();
    assert_eq!(
        (&row["standing"], &row["waiting_for"][0]["type"]),
        (&json!("parked"), &json!("resume"))
    );
    assert!(why(row["waiting_for"][0]["why"].as_str().unwrap()), "{row}");
    assert!(line(&fleet.run(&["ps"]).ok(), "oak-lee").contains(" resume "));
    // It ends by itself as often: another reason.
    write(&program, "echo no licence; exit 3");
    let ran = fleet.run(&["restart", "oak-lee"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    let told = line(&ran.stderr, "oak-lee  parked: ");
    assert!(
        told.contains("the program ended with code 3") && told.contains("no licence"),
        "{told}"
    );
    write(&program, "while :; do printf '$ '; read -r line || exit 1; echo you said $line; done");
    let _ = fleet.run(&["resume", "oak-lee"]).ok();
    fleet.becomes("oak-lee", "idle");
    assert_eq!(fleet.ps()["oak-lee"]["waiting_for"], json!([]));
}
