//! Which rule answers, with what, and what is said about a bad script.

use super::*;
use crate::reply::{Message, Part, Role};

fn asked(prompt: &str) -> Conversation {
    Conversation {
        model: "stand-in".into(),
        system: "You are spark-ada".into(),
        messages: vec![Message { role: Role::User, parts: vec![Part::Text(prompt.into())] }],
        ..Conversation::default()
    }
}

fn after(prompt: &str, tool: &str, text: &str) -> Conversation {
    let mut conversation = asked(prompt);
    let call = Part::ToolUse { id: "1".into(), name: tool.into() };
    let result = Part::ToolResult { id: "1".into(), text: text.into(), is_error: false };
    conversation.messages.push(Message { role: Role::Assistant, parts: vec![call] });
    conversation.messages.push(Message { role: Role::User, parts: vec![result] });
    conversation
}

/// The text of the answer, or the sentence of the refusal in brackets.
fn said(script: &Script, conversation: &Conversation) -> String {
    match script.answer(conversation) {
        Answer::Reply(reply) => match reply.steps.as_slice() {
            [Step::Text(text)] => text.clone(),
            other => format!("{other:?}"),
        },
        Answer::Error(error) => format!("({} {})", error.status, error.message),
        Answer::Overflow => "(overflow)".to_owned(),
    }
}

fn script(text: &str) -> Script {
    Script::parse(text).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn the_first_rule_that_matches_answers() {
    let script = script(
        r"
rules:
  - when: {user: {exact: hello}}
    reply: [text: exact]
  - when: {user: {contains: 'a.b'}}
    reply: [text: contains]
  - when: {user: '^deploy (\w+)(?: to (\w+))?$'}
    reply: [text: 'deploy $1, $2, $0, $9, $$1, $x, ${user}, ${turn}, $']
  - when: {model: other}
    reply: [text: model]
  - when: {system: spark-(\w+), user: who}
    reply: [text: 'system']
  - when: {turn: 1, user: first}
    reply: [text: first]
",
    );
    for (prompt, expected) in [
        ("hello", "exact"),
        ("xa.by", "contains"),
        ("deploy main", "deploy main, , deploy main, , $1, $x, deploy main, 1, $"),
        (
            "deploy main to prod",
            "deploy main, prod, deploy main to prod, , $1, $x, deploy main to prod, 1, $",
        ),
        ("who", "system"),
        ("first", "first"),
        ("hello you", "(400 the stand-in's script has no rule for turn 1: hello you)"),
    ] {
        assert_eq!(said(&script, &asked(prompt)), expected);
    }
    let model = Conversation { model: "other-1".into(), ..asked("x") };
    assert_eq!(said(&script, &model), "model");
}

#[test]
fn tool_results_are_matched_by_tool_and_text() {
    let script = script(
        r#"
rules:
  - when: {user: go}
    reply: [text: asked]
  - when: {user: go, tool_result: 'denied by (\w+)'}
    reply: [text: "refused in $0"]
  - when: {tool: Bash, tool_result: 'exit (\d+)'}
    reply: [text: "bash $1 ${tool_result} ${turn}"]
  - when: {tool: Bash}
    reply: [text: other bash]
"#,
    );
    assert_eq!(said(&script, &asked("go")), "asked");
    assert_eq!(said(&script, &after("go", "Bash", "denied by eve")), "refused in go");
    assert_eq!(said(&script, &after("stop", "Bash", "exit 3")), "bash 3 exit 3 2");
    assert_eq!(said(&script, &after("stop", "Bash", "?")), "other bash");
    let none = "(400 the stand-in's script has no rule for turn 2 after a result of Read: go)";
    assert_eq!(said(&script, &after("go", "Read", "x")), none);
}

/// One script is for all clients: each names the tools of an MCP server in its own way.
#[test]
fn a_tool_is_known_by_its_name_wherever_its_server_is_named() {
    let script = script(
        r#"
rules:
  - when: {tool: send}
    reply: [text: "sent: ${tool_result}"]
  - when: {user: say}
    reply: [tool_use: {name: send, input: {text: hi}}]
  - when: {user: run}
    reply: [tool_use: {name: Bash}]
"#,
    );
    let offered = |tools: &[&str], of: Conversation| Conversation {
        tools: tools.iter().copied().map(String::from).collect(),
        ..of
    };
    for tool in ["send", "mcp__gangline__send", "gangline_send", "gangline-send", "SEND"] {
        let tools = ["resend", "send_all", tool];
        let called = said(&script, &offered(&tools, asked("say")));
        assert!(called.contains(&format!("name: \"{tool}\"")), "{called}");
        let known = said(&script, &offered(&tools, after("x", tool, "ok")));
        assert_eq!(known, "sent: ok", "{tool}");
        // Offered or not: a client may find tools later than at once.
        assert_eq!(said(&script, &after("x", tool, "ok")), "sent: ok", "{tool}");
    }
    for other in ["resend", "send_all", "_send", "Bash"] {
        let none = format!(
            "(400 the stand-in's script has no rule for turn 2 after a result of {other}: x)"
        );
        assert_eq!(said(&script, &after("x", other, "ok")), none);
    }
    // The name itself is meant before any other that has it at its end.
    let both = ["a__send", "send"];
    assert!(said(&script, &offered(&both, asked("say"))).contains("name: \"send\""));
    assert!(said(&script, &offered(&both, after("x", "a__send", "ok"))).starts_with("(400"));
    assert!(said(&script, &offered(&["bash"], asked("run"))).contains("name: \"bash\""));
    assert!(said(&script, &offered(&["other"], asked("run"))).contains("name: \"Bash\""));
}

#[test]
fn what_a_client_puts_before_a_prompt_by_itself_is_not_asked() {
    let script = script("rules: [{reply: [text: '${user}']}]");
    for context in [
        "<system-reminder>x</system-reminder>",
        "<environment_context>x</environment_context>",
        "<turn_aborted>x</turn_aborted>",
        "  <session_context>x</session_context>",
    ] {
        let mut conversation = asked("go");
        conversation.messages[0].parts.push(Part::Text(context.into()));
        assert_eq!(said(&script, &conversation), "go", "{context}");
    }
    let stamped = "<current_datetime>now</current_datetime>\n\ngo";
    assert_eq!(said(&script, &asked(stamped)), "go");
    assert_eq!(said(&script, &asked("<current_datetime>go")), "<current_datetime>go");
}

/// Clients send the results of parallel calls in the order in which they ended.
#[test]
fn results_of_parallel_calls_are_taken_in_the_order_of_the_calls() {
    let script = script("rules: [{when: {tool: Read}, reply: [text: '${tool_result}']}]");
    let mut conversation = after("x", "Bash", "first");
    let call = Part::ToolUse { id: "2".into(), name: "Read".into() };
    conversation.messages[1].parts.push(call);
    let second = Part::ToolResult { id: "2".into(), text: "second".into(), is_error: false };
    conversation.messages[2].parts.insert(0, second);
    assert_eq!(said(&script, &conversation), "first\nsecond");
}

#[test]
fn times_uses_a_rule_up_and_then_the_next_answers() {
    let script = script(
        "rules:\n  - {when: {user: a}, times: 2, reply: [text: one]}\n  - {times: 0, reply: [text: never]}\n  - reply: [text: two]\n",
    );
    assert_eq!(said(&script, &asked("b")), "two", "a rule that does not match is not used");
    let answers: Vec<String> = (0..4).map(|_| said(&script, &asked("a"))).collect();
    assert_eq!(answers, ["one", "one", "two", "two"]);
}

#[test]
fn every_block_becomes_its_part_of_the_answer() {
    let script = script(
        r#"
rules:
  - when: {user: all}
    reply:
      - thinking: "about $0"
      - tool_use: {name: Bash, input: {command: "echo $0", list: ["$0", 1, null], deep: {a: "${user}"}}}
      - tool_use: {name: Nothing}
      - delay_ms: 5
      - usage: {input_tokens: 7, cache_read_input_tokens: 3}
      - stop_reason: max_tokens
      - drop: {after_bytes: 10}
  - when: {user: error}
    reply:
      - http_error: {status: 429, headers: {retry-after: "2"}, type: rate_limit_error, message: "no $0", body: "raw"}
  - when: {user: coded}
    reply: [http_error: {status: 400, code: context_length_exceeded}]
  - when: {user: fault}
    reply:
      - text: half
      - stream_error: {status: 529, type: overloaded_error, code: busy, message: "no $0"}
      - text: never said
  - when: {user: plain}
    reply: [stream_error: {}]
  - when: {user: overflow}
    reply: [overflow]
"#,
    );
    insta::assert_debug_snapshot!([
        script.answer(&asked("all")),
        script.answer(&asked("error")),
        script.answer(&asked("coded")),
        script.answer(&asked("fault")),
        script.answer(&asked("plain")),
        script.answer(&asked("overflow")),
    ]);
}

/// What a person sees of a script with a fault: line and column, and the quoted line.
#[test]
fn faults_of_a_script_are_shown_with_line_and_column() {
    let mut out = String::new();
    for (what, text) in [
        ("empty", ""),
        ("no rules", "rule: []\n"),
        ("rules as text", "rules: hello\n"),
        ("syntax", "rules:\n  - when: {user: a\n    reply: []\n"),
        ("unknown condition", "rules:\n  - when: {usr: a}\n    reply: [text: x]\n"),
        ("unknown block", "rules:\n  - reply:\n      - txt: x\n"),
        ("no reply", "rules:\n  - when: {user: a}\n"),
        ("bad pattern", "rules:\n  - when:\n      user: '('\n    reply: [text: x]\n"),
        (
            "bad pattern in a form",
            "rules:\n  - when:\n      user: {regex: '['}\n    reply: [text: x]\n",
        ),
        ("unknown form", "rules:\n  - when:\n      user: {like: x}\n    reply: [text: x]\n"),
        ("bad status", "rules:\n  - reply:\n      - http_error: {status: 200}\n"),
        ("negative times", "rules:\n  - times: -1\n    reply: []\n"),
        ("tab", "rules:\n\t- reply: []\n"),
    ] {
        let error = Script::parse(text).unwrap_err();
        out.push_str(&format!("### {what}\n{error}\n\n"));
    }
    insta::with_settings!({ omit_expression => true }, { insta::assert_snapshot!(out) });
}

#[test]
fn a_script_that_is_too_large_is_not_parsed() {
    let error = Script::parse(&"#".repeat(MAX_SCRIPT_BYTES + 1)).unwrap_err();
    assert_eq!(error.to_string(), "the script has 16777217 bytes; at most 16777216 are read");
}

#[test]
fn the_examples_of_the_documentation_are_good() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/standin.md");
    let text = std::fs::read_to_string(path).unwrap();
    let example = text.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let script = script(example);
    assert_eq!(said(&script, &asked("hi")), "you said hi");
    assert_eq!(said(&script, &asked("flaky")), "(529 )");
    assert_eq!(
        said(&script, &after("deploy main", "Bash", "denied by eve")),
        "I may not deploy denied"
    );
}
