//! Permission requests of backends, and the rules they offer.

use serde_json::json;

use super::*;

/// R2-42, C5: a rule for the call that a question stands for would allow what nobody saw.
#[test]
fn no_rule_is_made_of_what_is_only_presumed() {
    for (tool, input) in [
        ("Bash", json!({"command": "npm test"})),
        ("Write", json!({"file_path": "/w/a", "content": "x"})),
        ("mcp__a__b", json!({"x": 1})),
    ] {
        let (request, tool) = ("r".to_owned(), tool.to_owned());
        let ask = ApprovalAsk { request, tool, input, presumed: true };
        let described = offer(&ask, "/w", &Redactor::default()).describe();
        assert_eq!(described, "no rule: its program does not say which call it asks about");
    }
}

/// What a program loads from its folder starts something: no rule lets it be written, wherever it lies.
#[test]
fn no_rule_lets_be_written_what_a_program_loads() {
    for path in
        ["/w/.claude/settings.json", "/w/sub/.mcp.json", ".codex/config.toml", "/w/opencode.json"]
    {
        let input = json!({"file_path": path, "content": "x"});
        let no = "no rule: programs read this file when they start";
        assert_eq!(described("Write", input), no, "{path}");
    }
}

fn described(tool: &str, input: Value) -> String {
    let masks = Redactor::new(["hunter2hunter2".to_owned()]);
    let ask =
        ApprovalAsk { request: "r".to_owned(), tool: tool.to_owned(), input, presumed: false };
    offer(&ask, "/w", &masks).describe()
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn a_rule_is_made_of_what_people_saw_and_nothing_else() {
    for (tool, input, shown) in [
        ("Bash", json!({"command": "npm test"}), "Bash `npm test` in /w"),
        ("Bash", json!({"command": "a && b", "description": "x"}), "Bash `a`, Bash `b` in /w"),
        ("Bash", json!({"command": ["bash", "-lc", "npm test"]}), "Bash `npm test` in /w"),
        ("Bash", json!({"command": "a", "cwd": "/w", "timeout": 9}), "Bash `a` in /w"),
        ("Bash", json!({"command": "a", "network": null}), "Bash `a` in /w"),
        (
            "Bash",
            json!({"command": "a", "sandbox": false}),
            "no rule: it has the argument `sandbox`",
        ),
        ("Bash", json!({"command": "a", "dangerouslyDisableSandbox": false}), "Bash `a` in /w"),
        ("Bash", json!({"command": "a", "cwd": "/"}), "no rule: it runs in another folder"),
        ("Bash", json!({"command": "a", "network": {}}), "no rule: it has the argument `network`"),
        (
            "Bash",
            json!({"command": "a", "dangerouslyDisableSandbox": true}),
            "no rule: it has the argument `dangerouslyDisableSandbox`",
        ),
        ("Bash", json!({"command": "rm *"}), "no rule: it expands something when it runs"),
        ("Bash", json!({"title": "Bash"}), "no rule: it has the argument `title`"),
        ("Bash", json!({}), "no rule: its command is not known"),
        ("Bash", json!({"command": 7}), "no rule: its command is not known"),
        ("Bash", json!({"command": "a hunter2hunter2"}), "no rule: it holds a secret"),
        (
            "Edit",
            json!({"file_path": "/w/a", "old_string": "x", "new_string": "y"}),
            "Edit any change of `/w/a` in /w",
        ),
        ("Write", json!({"file_path": "/w/a", "content": "x"}), "Write any change of `/w/a` in /w"),
        // The file is uncertain: only the same arguments again.
        (
            "Write",
            json!({"content": "x", "file_path": "/w/../a"}),
            r#"Write `{"content":"x","file_path":"/w/../a"}` in /w"#,
        ),
        (
            "Edit",
            json!({"changes": {}, "file_path": "/a"}),
            r#"Edit `{"changes":{},"file_path":"/a"}` in /w"#,
        ),
        ("mcp__a__b", json!({"x": 1}), r#"mcp__a__b `{"x":1}` in /w"#),
        ("Delete", json!({"title": "x"}), "no rule: its program does not say its arguments"),
        ("Delete", json!([1]), "no rule: its arguments have an unknown form"),
        ("x", json!({"a": "b".repeat(RULES_BYTES)}), "no rule: it is too long"),
        (
            "Bash",
            json!({"command": format!("a {}", "b".repeat(RULES_BYTES))}),
            "no rule: it is too long",
        ),
        ("Bash", json!({"command": "a; b; a"}), "Bash `a`, Bash `b` in /w"),
        ("Bash", json!({"command": "a; b", "commands": ["a", "b"]}), "Bash `a`, Bash `b` in /w"),
        (
            "Bash",
            json!({"command": "a", "commands": ["a", "b"]}),
            "no rule: it has the argument `commands`",
        ),
        (
            "Bash",
            json!({"command": "a", "commands": ["a", {"b": 1}]}),
            "no rule: it has the argument `commands`",
        ),
        ("Bash", json!({"command": "a", "cwd": "/w/sub"}), "no rule: it runs in another folder"),
    ] {
        assert_eq!(described(tool, input.clone()), shown, "{input}");
    }
    let many = |count: usize| (0..count).map(|it| format!("a{it}")).collect::<Vec<_>>().join("; ");
    let told = |count| described("Bash", json!({"command": many(count)}));
    assert!(told(COMMANDS_MAX).starts_with("Bash `a0`, Bash `a1`"));
    assert_eq!(told(COMMANDS_MAX + 1), "no rule: it has too many commands");
}
