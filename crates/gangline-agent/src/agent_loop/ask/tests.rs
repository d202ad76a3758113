use serde_json::json;

use super::*;

/// F27: a secret is masked in every argument, so that no cut and no list leaves half of it.
#[test]
fn every_text_of_the_arguments_is_masked_by_itself() {
    let redactor = Redactor::new(["hunter2hunter2".to_owned()]);
    let input = json!({
        "command": "echo hunter2hunter2\nls",
        "edits": [{"new_string": "x hunter2hunter2"}, 1, null, true],
    });
    let expect = json!({
        "command": "echo [masked]\nls",
        "edits": [{"new_string": "x [masked]"}, 1, null, true],
    });
    assert_eq!(masked(input, &redactor), expect);
}

/// A decision counts for the next attempt only if its arguments are the same, masked ones too.
#[test]
fn arguments_that_differ_in_what_is_masked_are_not_the_same() {
    let redactor = Redactor::default();
    let ask = |command: &str| {
        let (request, tool) = ("r1".to_owned(), "Bash".to_owned());
        let ask = ApprovalAsk {
            request,
            tool,
            input: json!({ "command": command }),
            presumed: false,
            files: Vec::new(),
        };
        Ask::of(ask, "/srv", &redactor)
    };
    let (one, other) = (ask("deploy --token=abc123def"), ask("deploy --token=zzz999yyy"));
    assert_eq!(one.ask.input, other.ask.input, "both are masked");
    assert_ne!(one.args_hash, other.args_hash);
    assert_eq!(one.args_hash, ask("deploy --token=abc123def").args_hash);
}

/// C5: what was only presumed is decided anew each time, whatever was decided about the same call.
#[test]
fn a_presumed_call_has_no_decision_from_before() {
    let hash = |request: &str, presumed: bool| {
        let (request, tool) = (request.to_owned(), "Bash".to_owned());
        let input = json!({"command": "ls"});
        args_hash(&ApprovalAsk { request, tool, input, presumed, files: Vec::new() })
    };
    assert_eq!(hash("a", false), hash("b", false));
    assert_ne!(hash("a", true), hash("a", false));
    assert_ne!(hash("a", true), hash("b", true));
}
