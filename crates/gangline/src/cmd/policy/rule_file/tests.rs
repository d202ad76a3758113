use super::*;

fn read_text(text: &str) -> Result<Vec<FileRule>, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("rules.json");
    std::fs::write(&file, text).unwrap();
    read(&file).map_err(|failure| failure.sentence())
}

#[test]
fn a_rule_is_a_command_a_file_or_arguments() {
    let text = r#"[
        {"agent": "lab-ada", "tool": "Bash", "directory": "/w", "command": "npm 'run x'"},
        {"tool": "Bash", "directory": "/w", "command": ["npm", "test"], "number": 3},
        {"tool": "Edit", "directory": "/w", "file": "/w/a"},
        {"tool": "mcp__x__y", "directory": "/w", "arguments": "{}"}
    ]"#;
    let rules = read_text(text).unwrap();
    let forms: Vec<_> = rules.iter().map(|it| (it.rule.number, it.rule.form.clone())).collect();
    let words = |words: &[&str]| Form::Command(words.iter().map(|it| (*it).to_owned()).collect());
    let expect = [
        (1, words(&["npm", "run x"])),
        (2, words(&["npm", "test"])),
        (3, Form::File("/w/a".to_owned())),
        (4, Form::Arguments("{}".to_owned())),
    ];
    assert_eq!(forms, expect);
    assert_eq!(rules[0].agent, Some("lab-ada".parse().unwrap()));
    assert_eq!(rules[1].agent, None);
}

#[test]
fn what_is_no_rule_is_told_with_its_place() {
    let check = |text: &str, expect: &str| {
        let why = read_text(text).unwrap_err();
        assert!(why.contains(expect), "{why}");
    };
    check("{}", "cannot be used");
    check(r#"[{"tool": "Bash", "directory": "/w"}]"#, "rule 1 in ");
    check(r#"[{"tool": "Bash", "directory": "/w", "command": "a; b"}]"#, "more than one");
    check(r#"[{"tool": "Bash", "directory": "/w", "command": "rm $X"}]"#, "it expands something");
    check(r#"[{"tool": "Bash", "directory": "/w", "command": []}]"#, "empty");
    check(r#"[{"tool": "Bash", "directory": "/w", "commnd": "x"}]"#, "commnd");
}
