//! What is told beside the words of the model: compactions, sessions, limits, life, cost.

use super::*;

#[test]
fn a_compaction_is_told_once_from_begin_to_end() {
    let mut turns = fresh();
    let job = uuid_of(&turns.compact());
    let seen = play(
        &mut turns,
        [
            started(&job),
            status(Some("compacting"), None),
            status(None, Some("success")),
            result(&[&job]),
            over(&job),
        ],
    );
    assert_eq!(seen, ["Compacting", "compacted None"]);

    let job = uuid_of(&turns.compact());
    let seen = play(
        &mut turns,
        [
            started(&job),
            status(Some("compacting"), None),
            status(None, Some("failed")),
            result(&[&job]),
        ],
    );
    assert_eq!(seen, ["Compacting", "compacted Some(\"too_few_groups\")"]);

    // Neither begin nor end: the program only says why.
    let job = uuid_of(&turns.compact());
    let why = Line::Assistant(Assistant {
        model: SYNTHETIC.to_owned(),
        blocks: vec![Block::Text { text: "Error: No messages to compact".to_owned() }],
        usage: Tokens::default(),
        parent: None,
        error: None,
    });
    let seen = play(&mut turns, [started(&job), why, result(&[&job]), over(&job)]);
    assert_eq!(seen, ["Compacting", "compacted Some(\"Error: No messages to compact\")"]);

    // It was dropped.
    let job = uuid_of(&turns.compact());
    assert_eq!(play(&mut turns, [cancelled(&job)]).len(), 2);

    // By the program itself, in the middle of a turn.
    turns.prompt(prompt(1, P1));
    let seen = play(
        &mut turns,
        [
            started(P1),
            status(Some("compacting"), None),
            status(None, Some("success")),
            result(&[P1]),
        ],
    );
    assert_eq!(seen, ["1: accepted", "Compacting", "compacted None", "1: completed"]);
}

#[test]
fn a_clearing_is_told_by_the_new_session() {
    let mut turns = fresh();
    let job = uuid_of(&turns.clear());
    let init = Line::Init(Init { session_id: "t".to_owned(), model: "m".to_owned() });
    assert_eq!(play(&mut turns, [started(&job), init.clone(), result(&[&job])]), ["session t"]);
    assert_eq!(play(&mut turns, [init]), [""; 0]);
}

#[test]
fn words_of_others_are_not_the_agents() {
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    let mut inner = said("inner");
    if let Line::Assistant(inner) = &mut inner {
        inner.parent = Some("toolu".to_owned());
    }
    let mut own = said("Not logged in");
    if let Line::Assistant(own) = &mut own {
        own.model = SYNTHETIC.to_owned();
        own.error = Some("authentication_failed".to_owned());
    }
    assert_eq!(play(&mut turns, [started(P1), inner, own]), ["1: accepted"]);
    let failed = Line::Result(Box::new(Outcome {
        is_error: true,
        result: Some("Not logged in".to_owned()),
        user_message_uuids: Some(vec![P1.to_owned()]),
        ..Outcome::default()
    }));
    let actions = turns.line(failed, Now::default());
    assert!(actions.contains(&Action::WatchLogin));
    assert_eq!(kinds(actions), ["1: login"]);
}

#[test]
fn the_time_to_wait_is_the_limits_or_the_last_retrys() {
    let limited = || {
        Line::Result(Box::new(Outcome {
            is_error: true,
            api_error_status: Some(429),
            user_message_uuids: Some(vec![P1.to_owned()]),
            ..Outcome::default()
        }))
    };
    let retry = Line::Retry(crate::claude::decode::Retry {
        attempt: 1,
        max_retries: 4,
        retry_delay_ms: 2_275,
        error_status: Some(429),
        error: "rate_limit".to_owned(),
    });
    let told = "notice the model did not answer (429 rate_limit); try 1 of 4 in 2275 ms";
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    let seen = play(&mut turns, [started(P1), retry, limited()]);
    assert_eq!(seen, ["1: accepted", told, "1: limited Some(3)"]);

    let limit_until = |status: &str, until: i64| {
        Line::Limits(crate::claude::decode::Limits {
            status: status.to_owned(),
            resets_at: Some(until),
            rate_limit_type: Some("five_hour".to_owned()),
        })
    };
    let limit = |status: &str| limit_until(status, 1_060);
    turns.prompt(prompt(2, P1));
    let at = |unix| Now { unix, ..Now::default() };
    assert_eq!(kinds(turns.line(limit("allowed_warning"), at(1_000))), [""; 0]);
    let told = "notice the provider's five_hour limit is reached";
    assert_eq!(kinds(turns.line(limit("rejected"), at(1_000))), [told]);
    turns.line(started(P1), at(1_000));
    assert_eq!(kinds(turns.line(limited(), at(1_000))), ["2: limited Some(60)"]);
    // A time that is none.
    turns.prompt(prompt(3, P1));
    turns.line(limit_until("rejected", i64::MIN), at(1_000));
    turns.line(started(P1), at(1_000));
    assert_eq!(kinds(turns.line(limited(), at(1_000))), ["3: limited None"]);
}

#[test]
fn signs_of_life_come_once_a_second() {
    let mut turns = fresh();
    let at = |millis| Now { mono: Duration::from_millis(millis), unix: 0 };
    assert_eq!(turns.line(Line::Noise, at(0)), [], "no turn");
    turns.prompt(prompt(1, P1));
    assert_eq!(turns.line(Line::Noise, at(0)), [], "the model has not got it");
    turns.line(started(P1), at(100));
    let alive = [Action::Report(RuntimeEvent::Alive { turn: id(1) })];
    assert_eq!(turns.line(Line::Noise, at(1_099)), []);
    assert_eq!(turns.line(Line::Noise, at(1_100)), alive);
    assert_eq!(kinds(turns.line(said("a"), at(2_500))), ["1: said a"]);
    assert_eq!(turns.line(Line::Noise, at(3_400)), [], "words are life as well");
}

/// What shows only that the program lives counts while a call runs, until that call's limit, which a
/// decision begins anew.
#[test]
fn a_program_that_only_lives_keeps_no_turn() {
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    turns.line(started(P1), after(0));
    let alive = [RuntimeEvent::Alive { turn: id(1) }];
    assert_eq!(told(turns.line(Line::Lives, after(10))), []);
    assert_eq!(told(turns.sign_of_life(after(20))), []);
    turns.line(calls("t1"), after(30));
    assert_eq!(told(turns.line(Line::Lives, after(40))), alive);
    assert_eq!(told(turns.sign_of_life(after(50))), alive);
    turns.line(may_use("r"), after(60));
    turns.is_now(after(3_000));
    turns.decide(&ApprovalReply { request: "r".to_owned(), answer: Answer::Allow });
    assert_eq!(told(turns.line(beat(None, "t1"), after(4_799))), alive);
    assert_eq!(told(turns.line(Line::Lives, after(4_801))), []);
}

fn may_use(id: &str) -> Line {
    let request = Request::MayUse { tool: "Bash".to_owned(), input: json!({"command": "x"}) };
    Line::Request { id: id.to_owned(), request }
}

#[test]
fn the_cost_of_a_run_is_its_own() {
    let mut turns = fresh();
    let of = |total: f64, since: Option<f64>, uuid: &str| {
        let used = |cost_usd| crate::claude::decode::ModelUse { cost_usd, context_window: Some(9) };
        Line::Result(Box::new(Outcome {
            total_cost_usd: Some(total),
            models: std::iter::once(("m".to_owned(), used(total))).collect(),
            model_usage_since_last_result: since
                .map(|since| std::iter::once(("m".to_owned(), used(since))).collect()),
            user_message_uuids: Some(vec![uuid.to_owned()]),
            usage: Tokens { input_tokens: 11, output_tokens: 3, ..Tokens::default() },
            ..Outcome::default()
        }))
    };
    // An earlier process has spent too, so the first total says nothing.
    for (total, since, cost) in [
        (2.0, None, None),
        (2.5, None, Some(500_000)),
        (1.0, None, None),
        (3.0, Some(0.25), Some(250_000)),
    ] {
        turns.prompt(prompt(1, P1));
        turns.line(started(P1), Now::default());
        turns.line(said("a"), Now::default());
        let events = told(turns.line(of(total, since, P1), Now::default()));
        let usage = Usage {
            model: "m".to_owned(),
            input_tokens: 11,
            output_tokens: 3,
            cost_micros: cost,
            context_tokens: Some(5),
            context_window: Some(9),
            ..Usage::default()
        };
        assert_eq!(events[0], RuntimeEvent::Usage { turn: id(1), usage }, "{total} {since:?}");
    }
}

#[test]
fn a_name_that_is_no_uuid_gets_one() {
    assert_eq!(as_uuid(P1), P1);
    let made = as_uuid("p1");
    assert_eq!(uuid::Uuid::parse_str(&made).unwrap().to_string(), made);
}

#[test]
fn a_failure_to_begin_is_told() {
    let mut turns = fresh();
    turns.ready = false;
    let failed = Line::Result(Box::new(Outcome {
        subtype: "error_during_execution".to_owned(),
        is_error: true,
        errors: vec!["No conversation found with session ID: x".to_owned()],
        ..Outcome::default()
    }));
    let told = "notice claude did not begin: No conversation found with session ID: x";
    assert_eq!(play(&mut turns, [failed]), [told]);
    let refused = Line::Response { id: "gangline-1".to_owned(), answer: Err("no".to_owned()) };
    assert_eq!(turns.line(refused, Now::default()), [], "it was answered before");
}

fn model_changed() -> Line {
    Line::Response { id: "gangline-2".to_owned(), answer: Ok(json!({})) }
}

fn written(actions: &[Action]) -> usize {
    actions.iter().filter(|action| matches!(action, Action::Write(_))).count()
}

/// R2-04: a prompt right behind a change of the model is given when the program has changed it, and
/// what is added to it comes after it.
#[test]
fn a_prompt_waits_for_the_change_of_the_model() {
    let mut turns = fresh();
    assert_eq!(written(&turns.set_model("m2")), 1);
    assert_eq!(written(&turns.prompt(prompt(1, P1))), 0);
    assert_eq!(written(&turns.steer(prompt(1, P2))), 0);
    let actions = turns.line(model_changed(), Now::default());
    let lines = |action: &Action| match action {
        Action::Write(line) => Some([P1, P2].map(|uuid| line.contains(uuid))),
        _ => None,
    };
    let lines: Vec<_> = actions.iter().filter_map(lines).collect();
    assert_eq!(lines, [[true, false], [false, true]]);
    assert_eq!(written(&turns.line(model_changed(), Now::default())), 0);
}

/// A prompt that was not given yet is taken back by an interrupt without asking the program.
#[test]
fn a_prompt_that_waits_for_the_model_is_interrupted() {
    let mut turns = fresh();
    turns.set_model("m2");
    turns.prompt(prompt(1, P1));
    assert_eq!(kinds(turns.interrupt()), ["1: interrupted"]);
    assert_eq!(written(&turns.line(model_changed(), Now::default())), 0);
    assert_eq!(written(&turns.prompt(prompt(2, P2))), 1);
}

/// The answer to the request of this number.
fn answered(number: u64, answer: Value) -> Line {
    Line::Response { id: format!("gangline-{number}"), answer: Ok(answer) }
}

fn at(effort: &str) -> Value {
    json!({"applied": {"effort": effort}})
}

/// The only line that was written.
fn line(actions: &[Action]) -> Value {
    let [Action::Write(line)] = actions else { panic!("{actions:?}") };
    serde_json::from_str::<Value>(line).unwrap()["request"].clone()
}

fn apply(level: &str) -> Value {
    json!({"subtype": "apply_flag_settings", "settings": {"effortLevel": level}})
}

/// R1-11: what is in force is asked for before and after, and a prompt waits for all of it; then the
/// ground level is what the program was started with.
#[test]
fn a_prompt_waits_until_the_effort_is_raised() {
    let mut turns = fresh();
    let ask = json!({"subtype": "get_settings"});
    assert_eq!(line(&turns.set_effort(Effort::Raised)), ask);
    assert_eq!(written(&turns.prompt(prompt(1, P1))), 0);
    assert_eq!(line(&turns.line(answered(2, at("medium")), Now::default())), apply("high"));
    assert_eq!(line(&turns.line(answered(3, Value::Null), Now::default())), ask);
    let actions = turns.line(answered(4, at("high")), Now::default());
    assert_eq!(written(&actions), 1);
    assert_eq!(told(actions), [RuntimeEvent::Effort { raised: Some(EffortLevel::High) }]);
    assert_eq!(line(&turns.set_effort(Effort::Ground)), apply("medium"));
    let actions = turns.line(answered(5, Value::Null), Now::default());
    assert_eq!(told(actions), [RuntimeEvent::Effort { raised: None }]);
}

/// R1-11: nothing is told of a level that the model does not have, of one above the highest, and of a
/// refusal but that; the prompt is given nevertheless.
#[test]
fn an_effort_that_cannot_be_raised_stays() {
    let mut turns = fresh();
    turns.set_effort(Effort::Raised);
    turns.line(answered(2, at("high")), Now::default());
    turns.line(answered(3, Value::Null), Now::default());
    assert_eq!(turns.line(answered(4, at("high")), Now::default()), []);
    for answer in [at("max"), json!({"applied": {"effort": null}}), json!({})] {
        let mut turns = fresh();
        turns.set_effort(Effort::Raised);
        turns.prompt(prompt(1, P1));
        let actions = turns.line(answered(2, answer), Now::default());
        assert_eq!((written(&actions), told(actions)), (1, vec![]));
    }
    let mut turns = fresh();
    turns.set_effort(Effort::Raised);
    turns.prompt(prompt(1, P1));
    let no = Line::Response { id: "gangline-2".to_owned(), answer: Err("no".to_owned()) };
    let actions = turns.line(no, Now::default());
    assert_eq!(written(&actions), 1);
    assert_eq!(kinds(actions), ["notice the effort was not changed: no"]);
}

/// R1-11: what is lowered before it is known what to raise it to is not raised after that.
#[test]
fn the_last_word_about_the_effort_holds() {
    let mut turns = fresh();
    turns.set_effort(Effort::Raised);
    turns.set_effort(Effort::Ground);
    turns.prompt(prompt(1, P1));
    assert_eq!(turns.line(answered(2, at("medium")), Now::default()), []);
    let actions = turns.line(answered(3, Value::Null), Now::default());
    assert_eq!((written(&actions), told(actions)), (1, vec![]));
}

fn after(seconds: u64) -> Now {
    Now { mono: Duration::from_secs(seconds), unix: 0 }
}

fn beat(hook: Option<&str>, call: &str) -> Line {
    let hook = hook.map(str::to_owned);
    Line::Beat(crate::claude::decode::Beat { hook, call: call.to_owned(), parent: call.to_owned() })
}

fn calls(id: &str) -> Line {
    let block = Block::ToolUse { id: id.to_owned(), name: "Bash".to_owned(), input: json!({}) };
    let Line::Assistant(mut line) = said("") else { unreachable!() };
    line.blocks = vec![block];
    Line::Assistant(line)
}

#[test]
fn a_heartbeat_keeps_a_turn_for_a_call_that_runs_and_for_nothing_else() {
    let mut turns = fresh();
    turns.prompt(prompt(1, P1));
    turns.line(started(P1), after(0));
    turns.line(calls("t1"), after(1));
    let alive = [RuntimeEvent::Alive { turn: id(1) }];
    assert_eq!(told(turns.line(beat(None, "t1"), after(31))), alive);
    assert_eq!(told(turns.line(beat(None, "t1"), after(1_800))), alive);
    // Its own limit.
    assert_eq!(told(turns.line(beat(None, "t1"), after(1_801))), []);
    assert_eq!(told(turns.line(beat(None, "t2"), after(1_831))), []);
    let on = "the hook PreToolUse".to_owned();
    let waits = [RuntimeEvent::Waits { turn: id(1), on }];
    assert_eq!(told(turns.line(beat(Some("PreToolUse"), "t1"), after(1_861))), waits);
    assert_eq!(told(turns.line(Line::Waits, after(1_891))), []);
    // A call that is over.
    turns.line(calls("t3"), after(1_900));
    let done = crate::claude::decode::ToolDone {
        id: "t3".into(),
        is_error: false,
        content: String::new(),
    };
    turns.line(
        Line::User(crate::claude::decode::User { results: vec![done], parent: None }),
        after(1_901),
    );
    assert_eq!(told(turns.line(beat(None, "t3"), after(1_931))), []);
}

#[test]
fn a_request_that_cannot_be_read_is_refused_by_its_kind() {
    let mut turns = fresh();
    let mut answer = |request: &str| {
        let line = format!(r#"{{"type":"control_request","request_id":"r7","request":{request}"#);
        let unread = turns.unread(&line, "no good").unwrap();
        let [Action::Write(line)] = &unread.actions[..] else { panic!("{unread:?}") };
        assert!(unread.what.contains("was refused"), "{unread:?}");
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(line["response"]["request_id"], "r7");
        line["response"].clone()
    };
    let said = answer(r#"{"subtype":"can_use_tool","tool_name":"Bash","input":{"command": broken"#);
    assert_eq!(said["response"]["behavior"], "deny");
    assert!(said["response"]["message"].as_str().unwrap().contains("no good"), "{said}");
    let said = answer(
        r#"{"subtype":"hook_callback","input":{"hook_event_name":"PreToolUse","tool_input":"#,
    );
    assert_eq!(said["response"]["hookSpecificOutput"]["permissionDecision"], "deny");
    let said = answer(r#"{"subtype":"hook_callback","input":{"#);
    assert_eq!(said["response"]["hookSpecificOutput"]["permissionDecision"], "deny");
    let said = answer(
        r#"{"subtype":"hook_callback","input":{"hook_event_name":"PostToolUse","tool_response":"#,
    );
    assert_eq!(said["response"], json!({}));
    let said =
        answer(r#"{"subtype":"mcp_message","server_name":"gangline","message":{"id":4,"params":"#);
    let rpc = &said["response"]["mcp_response"];
    assert_eq!((&rpc["id"], &rpc["error"]["code"]), (&json!(4), &json!(-32_700)));
    let said = answer(r#"{"subtype":"dance","#);
    assert_eq!(said["subtype"], "error");
    for nothing in
        ["a banner", r#"{"type":"control_request","request":"#, r#"{"type":"assistant","#]
    {
        assert_eq!(turns.unread(nothing, "no good"), None, "{nothing}");
    }
}
