//! Items as the program writes them.

use proptest::prelude::*;

use super::*;

fn tool(item: Value) -> Tool {
    match read(item).unwrap() {
        Item::Tool(tool) => tool,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_command_shows_what_the_shell_was_told() {
    for (command, shown) in [
        ("/bin/bash -lc 'echo hi'", "echo hi"),
        ("/bin/bash -c ls", "ls"),
        (r#"/usr/bin/zsh -c 'echo "a b"; rm x'"#, r#"echo "a b"; rm x"#),
        (r#"/bin/bash -c "it's""#, "it's"),
        // Anything else is shown as it is.
        ("/bin/bash -c ls -l", "/bin/bash -c ls -l"),
        ("/bin/bash -x -c ls", "/bin/bash -x -c ls"),
        ("bash -c ls", "bash -c ls"),
        ("/tmp/notbash -c ls", "/tmp/notbash -c ls"),
        ("/bin/bash -c 'open", "/bin/bash -c 'open"),
        ("python3 -c 'x'", "python3 -c 'x'"),
    ] {
        assert_eq!(script(command), shown, "{command}");
    }
}

proptest! {
    /// A human decides by what is shown: it is what the shell gets, to the letter.
    #[test]
    fn nothing_of_a_script_is_lost(text in "[^\u{0}]{0,60}") {
        let line = shlex::try_join(["/bin/bash", "-c", &text]).unwrap();
        prop_assert_eq!(script(&line), text);
    }

    #[test]
    fn a_long_output_keeps_its_begin_and_its_end(text in "[aä\n]{0,40}", times in 0_usize..6000) {
        let text = format!("begin{}end", text.repeat(times));
        let length = text.len();
        let cut = cut(text.clone());
        prop_assert!(cut.starts_with("begin") && cut.ends_with("end"));
        prop_assert!(cut.len() <= OUTPUT_MAX + 40);
        prop_assert!(length > OUTPUT_MAX || cut == text);
    }
}

#[test]
fn each_kind_of_tool_has_the_name_that_we_know() {
    let ran = tool(json!({"type": "commandExecution", "id": "c", "command": "/bin/bash -c ls",
        "status": "completed", "aggregatedOutput": "x\n", "exitCode": 2}));
    assert_eq!((ran.name.as_str(), ran.is_error), ("Bash", true));
    assert_eq!(
        (ran.input, ran.output),
        (json!({"command": "ls"}), "x\n\n(exit code 2)".to_owned())
    );

    let change = |kind: &str| json!({"path": kind, "kind": {"type": kind}, "diff": "d"});
    let patch = |changes: Vec<Value>| {
        let item =
            json!({"type": "fileChange", "id": "p", "changes": changes, "status": "completed"});
        tool(item)
    };
    assert_eq!(patch(vec![change("add")]).name, "Write");
    let both = patch(vec![change("add"), change("update")]);
    assert_eq!((both.name.as_str(), both.is_error), ("Edit", false));
    assert_eq!(both.input["file_path"], "add, update");
    let moved = json!({"path": "a", "kind": {"type": "update", "move_path": "b"}, "diff": "d"});
    let moved = patch(vec![moved]);
    assert_eq!(moved.input["changes"][0]["kind"]["move_path"], "b", "people see where it goes");
    assert_eq!(changed(&moved.input).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(patch(Vec::new()).name, "Edit");

    let called = tool(json!({"type": "mcpToolCall", "id": "m", "server": "s", "tool": "t",
        "arguments": {"a": 1}, "status": "failed", "error": {"message": "timed out"}}));
    assert_eq!((called.name.as_str(), called.is_error), ("mcp__s__t", true));
    assert_eq!(called.output, "timed out");
    let called = tool(json!({"type": "dynamicToolCall", "id": "d", "tool": "send",
        "arguments": {}, "status": "completed", "success": true,
        "contentItems": [{"type": "inputText", "text": "sent"}, {"type": "inputImage"}]}));
    assert_eq!((called.name.as_str(), called.is_error), ("send", false));
    assert_eq!(called.output, "sent\n[inputImage]");
    for (kind, name) in
        [("webSearch", "WebSearch"), ("imageView", "Read"), ("collabAgentToolCall", "Task")]
    {
        assert_eq!(tool(json!({"type": kind, "id": "x", "query": "q"})).name, name);
    }
}

#[test]
fn texts_are_read_and_the_rest_is_passed_over() {
    let user = |client: Value| read(json!({"type": "userMessage", "id": "x", "clientId": client}));
    assert_eq!(user(json!("u")).unwrap(), Item::User { client: Some("u".to_owned()) });
    assert_eq!(user(Value::Null).unwrap(), Item::User { client: None });
    let text = json!({"type": "agentMessage", "id": "m", "text": "hi", "phase": null});
    assert_eq!(read(text).unwrap(), Item::Text("hi".to_owned()));
    let thought = json!({"type": "reasoning", "id": "r", "summary": ["a", "b"], "content": ["c"]});
    assert_eq!(read(thought).unwrap(), Item::Thinking("a\n\nb".to_owned()));
    assert_eq!(read(json!({"type": "hologram"})).unwrap(), Item::Other);
    for broken in
        [json!(7), json!({}), json!({"type": "agentMessage"}), json!({"type": "imageView"})]
    {
        assert!(read(broken.clone()).is_err(), "{broken}");
    }
}
