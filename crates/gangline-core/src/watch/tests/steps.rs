//! Tests of how steps are made from what backends tell.

use serde_json::json;

use super::*;

fn edits(input: &serde_json::Value) -> Vec<(String, Option<u64>, u64)> {
    let edits = Edit::read(input, &Redactor::default());
    edits.into_iter().map(|it| (it.file.into_string(), it.before, it.after)).collect()
}

#[test]
fn the_edits_of_every_backend_are_read() {
    let of = |file: &str, before: &str, after: &str| {
        vec![(file.to_owned(), Some(digest(before)), digest(after))]
    };
    let claude = json!({ "file_path": "a", "old_string": "x", "new_string": "y" });
    assert_eq!(edits(&claude), of("a", "x", "y"));
    let opencode = json!({ "filePath": "a", "oldString": "x", "newString": "y" });
    assert_eq!(edits(&opencode), of("a", "x", "y"));
    let several = json!({ "file_path": "a", "edits": [
        { "old_string": "x", "new_string": "y" }, { "old_string": "y", "new_string": "z" },
    ] });
    assert_eq!(edits(&several), [of("a", "x", "y"), of("a", "y", "z")].concat());
    let codex = json!({ "changes": [{ "path": "a", "diff": "@@ -1 +1 @@\n-x\n+y\n" }] });
    assert_eq!(edits(&codex), of("a", "x\n", "y\n"));
    let keyed = json!({ "changes": { "a": { "unified_diff": "@@ -1 +1 @@\n-x\n+y\n" } } });
    assert_eq!(edits(&keyed), of("a", "x\n", "y\n"));
    let patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** Update File: b\n@@\n-y\n+x\n\
                 *** End Patch\n";
    let both = [of("a", "x\n", "y\n"), of("b", "y\n", "x\n")].concat();
    assert_eq!(edits(&json!({ "input": patch })), both);
    let new = json!({ "changes": [{ "path": "a", "kind": { "type": "add" }, "diff": "x" }] });
    assert_eq!(edits(&new), [("a".to_owned(), None, digest("x"))]);
    let whole = json!({ "file_path": "a", "content": "x" });
    assert_eq!(edits(&whole), [("a".to_owned(), None, digest("x"))]);
    assert_eq!(edits(&json!({ "command": "rm -r -- a" })), []);
    assert_eq!(edits(&json!("text")), []);
}

/// Models describe the same command in other words each time.
#[test]
fn the_description_of_a_command_makes_it_no_other_call() {
    let call = |input: serde_json::Value| match StepKind::call(
        "1",
        "Bash",
        (&input, &input),
        &Redactor::default(),
    ) {
        StepKind::Call { digest, .. } => digest,
        other => panic!("{other:?}"),
    };
    let plain = call(json!({ "command": "make" }));
    assert_eq!(call(json!({ "command": "make", "description": "Builds" })), plain);
    assert_eq!(call(json!({ "command": "make", "description": "Tries again" })), plain);
    assert_ne!(call(json!({ "command": "make all", "description": "Builds" })), plain);
    assert_ne!(call(json!({ "command": "make", "timeout": 5 })), plain);
    // Elsewhere it is what the call is about.
    let task = |text: &str| call(json!({ "description": text }));
    assert_ne!(task("one"), task("two"));
}

#[test]
fn a_call_has_a_bounded_number_of_edits() {
    let edit = json!({ "old_string": "x", "new_string": "y" });
    let many = json!({ "file_path": "a", "edits": vec![edit; 100] });
    assert_eq!(edits(&many).len(), EDITS_A_CALL);
    let patch = "*** Update File: a\n-x\n+y\n".repeat(100);
    assert_eq!(edits(&json!({ "patch": patch })).len(), EDITS_A_CALL);
}

#[test]
fn an_error_is_the_same_whenever_and_wherever_it_comes() {
    let same = |one: &str, two: &str| error_digest(one) == error_digest(two);
    assert!(same("FAILED in 0.31s", "FAILED in 12.05s"));
    assert!(same("took 1.2 seconds.", "took 33 seconds."));
    assert!(same("[2026-01-02T03:04:05Z] down", "[2026-01-02T09:09:09.123Z] down"));
    assert!(same("at 10:11:12 down", "at 12:13:14 down"));
    assert!(same("fault at 0x7ffe12", "fault at 0xdead00"));
    assert!(same("thread 'main' (41233) panicked", "thread 'main' (99999) panicked"));
    // shared folder: a name in an error.
    assert!(same("no /tmp/a1b2/x", "no /tmp/c3d4/x"));
    // What tells of progress makes it another error.
    assert!(!same("3 tests failed", "2 tests failed"));
    assert!(!same("src/a.rs:10:5: unknown", "src/a.rs:11:5: unknown"));
    assert!(!same("left: 3", "left: 4"));
    assert!(!same("cannot find x", "cannot find y"));
}

#[test]
fn long_texts_are_cut_in_the_middle() {
    let long = Redacted::derived(format!("begin {} end", "ö".repeat(5_000)));
    let StepKind::Result { text, digest: all, .. } = StepKind::succeeded("1", &long) else {
        unreachable!()
    };
    assert!(text.as_str().len() <= STEP_TEXT_MOST);
    assert!(text.as_str().starts_with("begin ö") && text.as_str().ends_with("ö end"));
    assert_eq!(all, digest(long.as_str()));
}

#[test]
fn secrets_in_arguments_are_masked() {
    let redactor = Redactor::new(["hunter2-hunter2".to_owned()]);
    let input = json!({ "file_path": "hunter2-hunter2", "old_string": "a", "new_string": "b" });
    let StepKind::Call { input, edits, .. } =
        StepKind::call("1", "Edit", (&input, &input), &redactor)
    else {
        unreachable!()
    };
    assert!(!format!("{input} {edits:?}").contains("hunter2"));
}
