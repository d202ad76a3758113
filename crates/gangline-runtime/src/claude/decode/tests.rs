//! Lines as the program wrote them (2.1.330), shortened where nothing is read.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// The same with its fields in another order: the kind is not in front any more.
fn reordered(line: &str) -> String {
    serde_json::from_str::<Value>(line).unwrap().to_string()
}

fn check(line: &str, expected: &Line) {
    assert_eq!(&decode(line).unwrap(), expected, "{line}");
    let line = reordered(line);
    assert_eq!(&decode(&line).unwrap(), expected, "{line}");
}

#[test]
fn the_head_of_a_run_names_session_and_model() {
    let line = r#"{"type":"system","subtype":"init","cwd":"/home/ada","session_id":"6f274d09","tools":["Task","Bash"],
        "mcp_servers":[{"name":"gangline","status":"connected","source":"sdk"}],"model":"claude-opus-5-5",
        "permissionMode":"default","apiKeySource":"ANTHROPIC_API_KEY","user_message_uuids":["4024"]}"#;
    let init = Init { session_id: "6f274d09".into(), model: "claude-opus-5-5".into() };
    check(line, &Line::Init(init));
}

/// R0-18.
#[test]
fn a_block_of_the_model_comes_with_its_tokens() {
    let line = r#"{"type":"assistant","message":{"content":[{"id":"toolu_1","input":{"command":"echo hi"},"name":"Bash","type":"tool_use"}],
        "id":"msg_1","model":"claude-opus-5-5","role":"assistant","stop_reason":null,"usage":{"cache_creation_input_tokens":1,
        "cache_read_input_tokens":2,"input_tokens":20853,"output_tokens":1}},"parent_tool_use_id":null,"session_id":"6f"}"#;
    let block = Block::ToolUse {
        id: "toolu_1".into(),
        name: "Bash".into(),
        input: json!({"command": "echo hi"}),
    };
    let usage = Tokens {
        input_tokens: 20_853,
        output_tokens: 1,
        cache_read_input_tokens: 2,
        cache_creation_input_tokens: 1,
    };
    let said = Assistant {
        model: "claude-opus-5-5".into(),
        blocks: vec![block],
        usage,
        parent: None,
        error: None,
    };
    check(line, &Line::Assistant(said));
}

#[test]
fn words_of_the_program_itself_are_known_by_their_model() {
    let line = r#"{"type":"assistant","message":{"model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"Not logged in"}],
        "usage":{"input_tokens":0,"service_tier":null}},"parent_tool_use_id":null,"error":"authentication_failed","is_api_error_message":true}"#;
    let said = Assistant {
        model: SYNTHETIC.into(),
        blocks: vec![Block::Text { text: "Not logged in".into() }],
        usage: Tokens::default(),
        parent: None,
        error: Some("authentication_failed".into()),
    };
    check(line, &Line::Assistant(said));
}

/// R0-18: thinking is kept.
#[test]
fn blocks_that_nobody_reads_are_left_out() {
    let line = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"redacted_thinking","data":"x"},{"no":"type"},7,
        {"type":"thinking","thinking":"hm","signature":"s"},{"type":"text"}]},"parent_tool_use_id":"toolu_9"}"#;
    let said = Assistant {
        model: "m".into(),
        blocks: vec![Block::Thinking { thinking: "hm".into() }],
        usage: Tokens::default(),
        parent: Some("toolu_9".into()),
        error: None,
    };
    check(line, &Line::Assistant(said));
}

#[test]
fn results_of_tools_are_text_whatever_their_form() {
    let of = |content: &str| {
        format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"tool_use_id":"t","type":"tool_result",
            "content":{content},"is_error":true}}]}},"parent_tool_use_id":null}}"#
        )
    };
    for (content, expected) in [
        (r#""hi""#, "hi"),
        (r#"[{"type":"text","text":"a"},{"type":"image","source":{}}]"#, "a\n[image]"),
        ("null", ""),
        ("[]", ""),
    ] {
        let done = ToolDone { id: "t".into(), is_error: true, content: expected.into() };
        check(&of(content), &Line::User(User { results: vec![done], parent: None }));
    }
    let replay = r#"{"type":"user","message":{"role":"user","content":"<local-command-stdout>Set model</local-command-stdout>"},"isReplay":true}"#;
    check(replay, &Line::User(User { results: Vec::new(), parent: None }));
}

#[test]
fn the_end_of_a_run_is_read_wherever_its_kind_stands() {
    let line = r#"{"duration_api_ms":0,"stop_reason":"stop_sequence","total_cost_usd":0.25,"usage":{"input_tokens":7,"output_tokens":3},
        "modelUsage":{"m":{"inputTokens":7,"costUSD":0.25,"contextWindow":200000}},"terminal_reason":"api_error","is_error":true,
        "subtype":"success","api_error_status":529,"result":"API Error: 529","type":"result","user_message_uuids":["44c5"],
        "errors":["x"],"origin":{"kind":"task-notification","producer":"session-task"}}"#;
    let used = ModelUse { context_window: Some(200_000), cost_usd: 0.25 };
    let outcome = Outcome {
        subtype: "success".into(),
        is_error: true,
        terminal_reason: Some("api_error".into()),
        api_error_status: Some(529),
        result: Some("API Error: 529".into()),
        errors: vec!["x".into()],
        user_message_uuids: Some(vec!["44c5".into()]),
        origin: Some(Origin { kind: "task-notification".into() }),
        usage: Tokens { input_tokens: 7, output_tokens: 3, ..Tokens::default() },
        total_cost_usd: Some(0.25),
        models: std::iter::once(("m".to_owned(), used)).collect(),
        model_usage_since_last_result: None,
    };
    check(line, &Line::Result(Box::new(outcome)));
}

#[test]
fn what_is_null_is_as_good_as_absent() {
    let line = r#"{"type":"result","subtype":null,"is_error":null,"errors":null,"result":null,"usage":null,"modelUsage":null,
        "user_message_uuids":null,"origin":null}"#;
    check(line, &Line::Result(Box::default()));
    let line = r#"{"type":"assistant","message":{"model":null,"content":[],"usage":{"input_tokens":null,"output_tokens":2}}}"#;
    let said = Assistant {
        model: String::new(),
        blocks: Vec::new(),
        usage: Tokens { output_tokens: 2, ..Tokens::default() },
        parent: None,
        error: None,
    };
    check(line, &Line::Assistant(said));
}

#[test]
fn short_lines_are_read() {
    let lifecycle = |state| Line::Lifecycle { uuid: "u".into(), state };
    let table = [
        (
            r#"{"type":"command_lifecycle","command_uuid":"u","state":"queued"}"#,
            lifecycle(Fate::Queued),
        ),
        (
            r#"{"type":"command_lifecycle","command_uuid":"u","state":"started"}"#,
            lifecycle(Fate::Started),
        ),
        (
            r#"{"type":"command_lifecycle","command_uuid":"u","state":"completed"}"#,
            lifecycle(Fate::Completed),
        ),
        (
            r#"{"type":"command_lifecycle","command_uuid":"u","state":"cancelled"}"#,
            lifecycle(Fate::Cancelled),
        ),
        (
            r#"{"type":"command_lifecycle","command_uuid":"u","state":"new"}"#,
            lifecycle(Fate::Other),
        ),
        (r#"{"type":"system","subtype":"session_state_changed","state":"idle"}"#, Line::Idle),
        (r#"{"type":"system","subtype":"session_state_changed","state":"running"}"#, Line::Lives),
        (
            r#"{"type":"control_cancel_request","request_id":"r"}"#,
            Line::Cancelled { id: "r".into() },
        ),
        (
            r#"{"type":"system","subtype":"status","status":null,"compact_result":"failed","compact_error":"too_few_groups"}"#,
            Line::Status(Status {
                status: None,
                compact_result: Some("failed".into()),
                compact_error: Some("too_few_groups".into()),
            }),
        ),
        (
            r#"{"type":"system","subtype":"api_retry","attempt":1,"max_retries":4,"retry_delay_ms":2275,"error_status":429,"error":"rate_limit"}"#,
            Line::Retry(Retry {
                attempt: 1,
                max_retries: 4,
                retry_delay_ms: 2275,
                error_status: Some(429),
                error: "rate_limit".into(),
            }),
        ),
        (
            r#"{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1795307522,"rateLimitType":"five_hour"}}"#,
            Line::Limits(Limits {
                status: "rejected".into(),
                resets_at: Some(1_795_307_522),
                rate_limit_type: Some("five_hour".into()),
            }),
        ),
    ];
    for (line, expected) in table {
        check(line, &expected);
    }
}

#[test]
fn requests_are_told_apart() {
    let of = |request: &str| {
        format!(r#"{{"type":"control_request","request_id":"r","request":{request}}}"#)
    };
    let table = [
        (
            r#"{"subtype":"can_use_tool","tool_name":"Bash","display_name":"Bash","input":{"command":"ls"},"tool_use_id":"t"}"#,
            Request::MayUse { tool: "Bash".into(), input: json!({"command": "ls"}) },
        ),
        (
            r#"{"subtype":"hook_callback","callback_id":"gangline","input":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/w"}}"#,
            Request::Hook {
                event: "PreToolUse".into(),
                tool: "Bash".into(),
                input: json!({"command": "ls"}),
                cwd: "/w".into(),
                inner: false,
            },
        ),
        (
            r#"{"subtype":"hook_callback","callback_id":"gangline","input":{"hook_event_name":"PreCompact","trigger":"manual"}}"#,
            Request::Hook {
                event: "PreCompact".into(),
                tool: String::new(),
                input: Value::Null,
                cwd: String::new(),
                inner: false,
            },
        ),
        (
            r#"{"subtype":"mcp_message","server_name":"gangline","message":{"method":"tools/list","jsonrpc":"2.0","id":1}}"#,
            Request::Mcp {
                server: "gangline".into(),
                message: json!({"method": "tools/list", "jsonrpc": "2.0", "id": 1}),
            },
        ),
        (r#"{"subtype":"elicitation"}"#, Request::Other { kind: "elicitation".into() }),
    ];
    for (request, expected) in table {
        check(&of(request), &Line::Request { id: "r".into(), request: expected });
    }
}

#[test]
fn answers_to_our_requests_are_a_value_or_a_reason() {
    let good = r#"{"type":"control_response","response":{"subtype":"success","request_id":"i","response":{"cancelled":true}}}"#;
    check(good, &Line::Response { id: "i".into(), answer: Ok(json!({"cancelled": true})) });
    let empty = r#"{"type":"control_response","response":{"subtype":"success","request_id":"i"}}"#;
    check(empty, &Line::Response { id: "i".into(), answer: Ok(Value::Null) });
    let bad = r#"{"type":"control_response","response":{"subtype":"error","request_id":"i","error":"Unsupported","error_code":"x"}}"#;
    check(bad, &Line::Response { id: "i".into(), answer: Err("Unsupported".into()) });
}

#[test]
fn what_is_no_message_and_what_is_broken_are_told_apart() {
    for line in [
        "",
        "hello",
        "7",
        "[]",
        "{}",
        r#"{"type":7}"#,
        r#"{"type":"result""#,
        r#"{"uuid":"u","type":"result""#,
        r#"{"uuid":"u","type":null}"#,
        "\u{fffd}{",
    ] {
        assert_eq!(decode(line), Err(Odd::NoMessage), "{line}");
    }
    for (line, kind) in [
        (r#"{"type":"system","subtype":"new"}"#, "system/new"),
        (r#"{"type":"new","subtype":"init"}"#, "new"),
    ] {
        assert_eq!(decode(line), Err(Odd::Unknown { kind: kind.to_owned() }));
        assert_eq!(decode(&reordered(line)), Err(Odd::Unknown { kind: kind.to_owned() }));
    }
    for (line, kind) in [
        (r#"{"type":"assistant"}"#, "assistant"),
        (r#"{"type":"assistant","message":{"content":"text"}}"#, "assistant"),
        (r#"{"type":"result","is_error":"no"}"#, "result"),
        (r#"{"type":"system","subtype":"init","session_id":4}"#, "system/init"),
        (
            r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool"}}"#,
            "control_request",
        ),
        (r#"{"type":"command_lifecycle"}"#, "command_lifecycle"),
    ] {
        for line in [line.to_owned(), reordered(line), line.replacen('{', "{ ", 1)] {
            let broken = matches!(decode(&line), Err(Odd::Broken { kind: it, .. }) if it == kind);
            assert!(broken, "{line}: {:?}", decode(&line));
        }
    }
}

proptest! {
    #[test]
    fn no_line_breaks_the_reader(text in ".{0,200}", kind in "[a-z_/]{0,12}", value in "\\PC{0,40}") {
        let _ = decode(&text);
        let line = json!({"type": kind, "message": value, "request": value, "response": value});
        let _ = decode(&line.to_string());
    }

    #[test]
    fn a_known_kind_with_any_body_is_read_or_refused(
        kind in prop::sample::select(vec!["assistant", "user", "result", "control_request", "control_response", "command_lifecycle"]),
        field in prop::sample::select(vec!["message", "request", "response", "usage", "user_message_uuids", "modelUsage", "request_id"]),
        value in prop_oneof![Just(json!(null)), Just(json!(7)), Just(json!("x")), Just(json!([{}])), Just(json!({"content": [null], "subtype": "x", "request_id": "r"}))],
    ) {
        let mut line = json!({"type": kind});
        line[field] = value;
        let _ = decode(&line.to_string());
    }
}

#[test]
fn half_a_character_costs_nothing_but_itself() {
    let line = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"cut \ud83d"}],"model":"m"},"parent_tool_use_id":null}"#;
    let Line::Assistant(said) = decode(line).unwrap() else { panic!("{line}") };
    assert_eq!(said.blocks, [Block::Text { text: "cut \u{fffd}".to_owned() }]);
    let line = r#"{"type":"result","subtype":"success","result":"cut \ud83d end"}"#;
    let Line::Result(outcome) = decode(line).unwrap() else { panic!("{line}") };
    assert_eq!(outcome.result.as_deref(), Some("cut \u{fffd} end"));
    let line = r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"echo \uDFFF"}}}"#;
    let input = json!({"command": "echo \u{fffd}"});
    let request = Request::MayUse { tool: "Bash".to_owned(), input };
    assert_eq!(decode(line).unwrap(), Line::Request { id: "r".to_owned(), request });
    let line = r#"{"request_id":"r","type":"control_request","request":{"subtype":"hook_callback","input":{"hook_event_name":"PostToolUse","tool_response":"\ud83d"}}}"#;
    assert!(matches!(decode(line), Ok(Line::Request { .. })));
}

/// As 2.1.330 writes them.
#[test]
fn a_heartbeat_says_what_is_waited_for() {
    let beat = |hook: Option<&str>, call: &str, parent: &str| {
        let hook = hook.map(str::to_owned);
        Line::Beat(Beat { hook, call: call.to_owned(), parent: parent.to_owned() })
    };
    for (line, expected) in [
        (
            r#"{"type":"tool_progress","tool_use_id":"toolu_1-heartbeat-0","tool_name":"Bash","parent_tool_use_id":"toolu_1","elapsed_time_seconds":30,"heartbeat":true}"#,
            beat(None, "toolu_1", "toolu_1"),
        ),
        (
            r#"{"type":"tool_progress","tool_use_id":"hook-PreToolUse-toolu_1-heartbeat-1","tool_name":"PreToolUse","parent_tool_use_id":"toolu_1","heartbeat":true}"#,
            beat(Some("PreToolUse"), "hook-PreToolUse-toolu_1", "toolu_1"),
        ),
        (
            r#"{"type":"tool_progress","tool_use_id":"hook-Stop-8bc1-heartbeat-0","tool_name":"Stop","parent_tool_use_id":"8bc1","heartbeat":true}"#,
            beat(Some("Stop"), "hook-Stop-8bc1", "8bc1"),
        ),
        (r#"{"type":"tool_progress","parent_tool_use_id":null}"#, beat(None, "", "")),
        (r#"{"type":"keep_alive"}"#, Line::Waits),
    ] {
        check(line, &expected);
    }
}
