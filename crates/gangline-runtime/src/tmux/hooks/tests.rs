use std::path::Path;

use super::*;
use crate::tmux::profile::Profile;

fn hooks(program: &str) -> Hooks {
    Profile::of(Path::new(program), None).unwrap().hooks.unwrap()
}

fn read(object: Value) -> Option<HookEvent> {
    hooks("claude").read(&object)
}

/// R3-20: what the program calls its events has one meaning for all.
#[test]
fn an_object_of_a_hook_is_read_by_the_profile() {
    let result = |name: &str, rest: Value| {
        let mut object = json!({"hook_event_name": name, "tool_use_id": "t", "tool_name": "Bash"});
        object.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        match read(object) {
            Some(HookEvent::Result { is_error, content, .. }) => (is_error, content),
            other => panic!("{other:?}"),
        }
    };
    let out = json!({"tool_response": {"stdout": "hi", "stderr": ""}});
    assert_eq!(result("PostToolUse", out), (false, "hi".to_owned()));
    let blocks = json!({"tool_response": [{"type": "text"}]});
    assert_eq!(result("PostToolUse", blocks), (false, r#"[{"type":"text"}]"#.to_owned()));
    let failed = json!({"error": "Exit code 1", "tool_response": "x"});
    assert_eq!(result("PostToolUseFailure", failed), (true, "Exit code 1".to_owned()));
    assert_eq!(read(json!({"hook_event_name": "PreCompact"})), Some(HookEvent::Compacting));
    assert_eq!(read(json!({"hook_event_name": "PostCompact"})), Some(HookEvent::Compacted));
    assert_eq!(read(json!({"hook_event_name": "UserPromptSubmit"})), None, "without its text");
    assert_eq!(read(json!({"hook_event_name": "Unheard", "prompt": "x"})), None);
    assert_eq!(read(json!("Stop")), None);
    let inner = json!({"hook_event_name": "PermissionRequest", "agent_id": "a1"});
    assert_eq!(read(inner), None, "an agent of the agent");
    let inner = json!({"hook_event_name": "PermissionRequest", "agent_id": null});
    assert_eq!(read(inner), Some(HookEvent::Asks));
}

#[test]
fn a_failure_is_what_the_profile_says() {
    let failed = |error: &str, words: &str| {
        let object = json!({"hook_event_name": "StopFailure", "error": error,
            "last_assistant_message": words});
        match read(object) {
            Some(HookEvent::Ended(Ending { result, answer, .. })) if answer.is_empty() => result,
            other => panic!("{other:?}"),
        }
    };
    let of = |kind, why: &str| TurnResult::Failed { kind, why: why.to_owned() };
    assert_eq!(failed("server_error", "a\nb"), of(FailureKind::Provider, "a b"));
    assert_eq!(failed("what", ""), of(FailureKind::Other, "what"));
    assert_eq!(failed("rate_limit", "x"), TurnResult::RateLimited { retry_after: None });
    let login = failed("authentication_failed", "Please log in");
    assert!(
        matches!(login, TurnResult::NeedsLogin { hint } if hint.contains("attach") && hint.contains("resume"))
    );
    let long = failed("invalid_request", "Prompt is too long · 5");
    assert_eq!(long, of(FailureKind::ContextOverflow, "Prompt is too long · 5"));
}

/// R3-20: whatever becomes of the command, the program hears nothing of it.
#[test]
fn the_command_is_one_for_a_shell_and_says_nothing() {
    let words = ["/a b/gangline", "mcp", "--connect", "it's.sock"].map(str::to_owned);
    let command = r"'/a b/gangline' 'mcp' '--connect' 'it'\''s.sock' >/dev/null 2>&1 || :";
    let settings = hooks("claude").settings(&words);
    let hook = json!({"type": "command", "command": command, "timeout": 10});
    assert_eq!(settings["Stop"], json!([{"hooks": [hook]}]));
    assert_eq!(settings.as_object().unwrap().len(), 10);
    let line = format!("printf %s \"$1\" | {command}");
    assert_eq!(with_argument(&words), ["sh", "-c", &line, "gangline"]);
}
