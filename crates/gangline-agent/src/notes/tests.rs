use gangline_core::Epoch;
use serde_json::json;

use super::*;

fn turn(number: i64) -> TurnId {
    TurnId { epoch: Epoch(1), number }
}

fn ask(tool: &str, input: Value) -> ApprovalAsk {
    ApprovalAsk {
        request: "r".to_owned(),
        tool: tool.to_owned(),
        input,
        presumed: false,
        files: Vec::new(),
    }
}

fn notes(folder: &Path) -> Notes {
    Notes { folder: folder.to_owned(), turn: Some((turn(2), 160_000)) }
}

/// R2-09, R2-12: in its notes an agent writes unasked, in every turn; what leads out of them is
/// asked about.
#[test]
fn only_what_stays_within_the_notes_is_written_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::create_dir(folder.join("notes")).unwrap();
    std::os::unix::fs::symlink("/etc", folder.join("notes/out")).unwrap();
    let notes = notes(&folder.join("notes"));
    let at = |path: &str| folder.join(path).display().to_string();
    for (tool, input) in [
        ("Write", json!({"file_path": at("notes/todo.md"), "content": "x"})),
        ("Edit", json!({"path": at("notes/deep/er.md")})),
        (
            "Edit",
            json!({"file_path": "a, b", "changes": [
            {"path": at("notes/a"), "kind": {"type": "update", "move_path": null}},
            {"path": at("notes/b"), "kind": {"type": "update", "move_path": at("notes/c")}}]}),
        ),
    ] {
        assert_eq!(
            notes.answer(turn(1), &ask(tool, input.clone())),
            Some(Answer::Allow),
            "{input}"
        );
    }
    for (tool, input) in [
        ("Bash", json!({"file_path": at("notes/todo.md"), "command": "rm -r ~"})),
        ("Write", json!({"content": "x"})),
        ("Write", json!({"file_path": at("notes")})),
        ("Write", json!({"file_path": at("notesx/a")})),
        ("Write", json!({"file_path": at("notes/../secret")})),
        ("Write", json!({"file_path": at("notes/out/passwd")})),
        ("Write", json!({"file_path": "todo.md"})),
        ("Write", json!({"file_path": at("notes/a"), "path": "/etc/passwd"})),
        ("Edit", json!({"file_path": at("notes/a"), "changes": [{"path": "/etc/passwd"}]})),
        ("Edit", json!({"file_path": at("notes/a"), "changes": []})),
        (
            "Edit",
            json!({"changes": [
            {"path": at("notes/a"), "kind": {"move_path": "/etc/passwd"}}]}),
        ),
        ("Edit", json!({"file_path": at("notes/a"), "also_from_now_on": "/"})),
    ] {
        assert_eq!(notes.answer(turn(1), &ask(tool, input.clone())), None, "{input}");
        let refused = notes.answer(turn(2), &ask(tool, input.clone()));
        assert!(matches!(refused, Some(Answer::Deny { .. })), "nobody waits for it: {input}");
    }
}

/// C5: a question that names no call may be about any other file.
#[test]
fn what_is_only_presumed_to_write_notes_is_asked_about() {
    let notes = notes(Path::new("/s/notes"));
    let input = json!({"file_path": "/s/notes/a", "content": "x"});
    assert_eq!(notes.answer(turn(1), &ask("Write", input.clone())), Some(Answer::Allow));
    let presumed = ApprovalAsk { presumed: true, ..ask("Write", input) };
    assert_eq!(notes.answer(turn(1), &presumed), None);
}

/// R2-09: the agent is told how full its context is and where its notes are.
#[test]
fn the_prompt_names_the_folder_and_the_size() {
    let text = notes(Path::new("/s/agents/lab-ada/notes")).prompt();
    assert!(text.starts_with("[gangline] ") && text.contains(" 160000 tokens "), "{text}");
    assert!(text.contains(" /s/agents/lab-ada/notes ") && !text.contains('{'), "{text}");
}
