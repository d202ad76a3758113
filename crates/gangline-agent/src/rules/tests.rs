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
        let ask = ApprovalAsk { request, tool, input, presumed: true, files: Vec::new() };
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
    let file = |path: &str| NamedFile::of(path, vec![path.into()], Path::new("/w"));
    let files = input["file_path"].as_str().map(file).into_iter().collect();
    let (request, tool) = ("r".to_owned(), tool.to_owned());
    let ask = ApprovalAsk { request, tool, input, presumed: false, files };
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
        (
            "Write",
            json!({"content": "x", "file_path": "/w/../a"}),
            "no rule: `/w/../a` leads to `/a, a link`",
        ),
        // Nobody can compare later what is not known now.
        ("Write", json!({"content": "x"}), "no rule: it is not known which file it is about"),
        ("Read", json!({"offset": 1}), "no rule: it is not known which file it is about"),
        ("Read", json!({"file_path": "/x"}), r#"Read `{"file_path":"/x"}` in /w"#),
        ("Bash", json!({"command": "npm test | tail -5"}), "Bash `npm test | tail -5` in /w"),
        (
            "Bash",
            json!({"command": "a", "ignored": {"cwd": "/"}}),
            "no rule: it has the argument `ignored`",
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

/// A file that is a link, or lies behind one, has no rule; what was ruled as a file and became a link is
/// asked about. The place is the rule, whatever the name was.
#[test]
fn a_rule_is_the_file_and_not_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let top = fsio::resolved(dir.path());
    let work = top.join("work");
    std::fs::create_dir(&work).unwrap();
    std::fs::write(work.join("plain"), "").unwrap();
    std::os::unix::fs::symlink("../profile", work.join("README.md")).unwrap();
    let offered = |tool: &str, name: &str, input: Value| {
        let path = work.join(name);
        let files = vec![NamedFile::of(&path.display().to_string(), vec![path], &work)];
        let (request, tool) = ("r".to_owned(), tool.to_owned());
        let ask = ApprovalAsk { request, tool, input, presumed: false, files };
        offer(&ask, "/w", &Redactor::default())
    };
    let edit = |name: &str| json!({"file_path": work.join(name), "content": "x"});
    let plain = offered("Write", "plain", edit("plain"));
    let rule = Form::File(work.join("plain").display().to_string());
    assert_eq!(plain.subject, Subject::Forms(vec![rule.clone()]));
    let link = offered("Write", "README.md", edit("README.md"));
    let profile = top.join("profile").display().to_string();
    assert!(link.describe().contains(&format!("leads to `{profile}, a link`")), "{link:?}");
    let stored =
        Rule { number: 1, tool: "Write".to_owned(), directory: "/w".to_owned(), form: rule };
    assert_eq!(no_longer_holds(&stored), None);
    // Tools with other arguments too.
    for (tool, input) in [
        ("Read", json!({"file_path": work.join("README.md")})),
        ("Edit", json!({"changes": [{"path": "README.md", "diff": "+x"}]})),
        ("Delete", json!({"path": "README.md"})),
    ] {
        let offer = offered(tool, "README.md", input);
        assert!(matches!(offer.subject, Subject::Unclear(_)), "{tool}: {offer:?}");
    }
    std::fs::rename(work.join("plain"), top.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("../elsewhere", work.join("plain")).unwrap();
    assert_eq!(
        offered("Write", "plain", edit("plain")).allowed_by(std::slice::from_ref(&stored)),
        None
    );
    assert!(no_longer_holds(&stored).unwrap().contains("elsewhere"));
}

/// What was recorded is read as this program reads it: an older one took pipes apart.
#[test]
fn a_recorded_request_offers_what_it_would_offer_today() {
    let command = |text: &str| Form::Command(text.split(' ').map(str::to_owned).collect());
    let stored = |forms: &[&str]| Offer {
        tool: "Bash".to_owned(),
        directory: "/w".to_owned(),
        subject: Subject::Forms(forms.iter().map(|text| command(text)).collect()),
    };
    for (detail, then, now) in [
        (
            json!({"command": "npm test | tail -5"}),
            &["npm test", "tail -5"][..],
            "Bash `npm test | tail -5` in /w",
        ),
        (
            json!({"command": "cat f | env -Ssh"}),
            &["cat f", "env -Ssh"],
            "no rule: it runs commands that it does not show",
        ),
        (json!({"command": "npm test"}), &["npm test"], "Bash `npm test` in /w"),
    ] {
        let today = offer_today(("Bash", &detail.to_string()), stored(then));
        assert_eq!(today.describe(), now, "{detail}");
    }
}

/// What is shown of links is the daemon's word; a field of that name that a model writes is shown as one.
#[test]
fn a_model_cannot_say_where_a_file_leads() {
    let forged = json!({"file_path": "/w/a", LINKS: {"/w/a": "/b, a link"}});
    let shown = with_links(forged, &[]);
    assert_eq!(shown[LINKS], Value::Null);
    assert_eq!(shown["argument gangline:links"], json!({"/w/a": "/b, a link"}));
}
