//! Compaction: what is sent afterwards, what stays, and that a failure changes nothing.

use std::fs;
use std::path::Path;

use gangline_harness::{
    ApiErrorKind, ClearError, CompactError, Harness, Overflow, PromptError, StopReason, Usage,
};
use serde_json::{Value, json};

use crate::fake::*;

/// Returns the one message of a request that sums up, as text, and checks that it has no tools.
fn record(request: &Value) -> String {
    assert_eq!(request["messages"].as_array().unwrap().len(), 1);
    assert!(request.get("tools").is_none() && request.get("tool_choice").is_none());
    assert!(request["system"][0]["text"].as_str().unwrap().starts_with("You write down"));
    texts(request, 0).join("\n")
}

/// C13, R2-11, R4-11: the view begins with the summary and the last instructions word for
/// word; the history and its log stay whole; a session that is taken up goes on the same way.
#[tokio::test]
async fn a_compacted_conversation_begins_with_its_summary_and_the_last_instructions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let fake = Fake::start(vec![
        calls("a", "puppet", &json!({"say": "42"})),
        says("It is 42."),
        says("Found: 42."),
        says("As I said."),
        says("Still 42."),
    ])
    .await;
    let (harness, told) = fake.harness(puppet());
    let harness = harness.resume(&path).unwrap();
    within(harness.prompt("never use < 41")).await.unwrap();
    let (before, id) = (harness.messages().unwrap(), harness.session_id());
    let compacted = within(harness.compact()).await.unwrap();
    assert_eq!(compacted.summary, "Found: 42.");
    assert_eq!(
        compacted.usage,
        Usage {
            input_tokens: 10,
            output_tokens: 7,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 5,
        }
    );
    assert_eq!(harness.messages().unwrap(), before, "the history stays whole");
    let request = record(&fake.requests()[2]);
    for part in ["never use < 41", "calls puppet]\n{\"say\":\"42\"}", "[result of puppet]\n42"] {
        assert!(request.contains(part), "{part}: {request}");
    }
    let lines = told.lines();
    let begun = lines.iter().position(|line| line == "compaction begun").unwrap();
    assert_eq!(
        lines[begun - 1..],
        [
            "status thinking: the conversation is being shortened",
            "compaction begun",
            "compaction done Found: 42.",
            "status idle: the conversation was shortened",
        ]
    );

    within(harness.prompt("sure?")).await.unwrap();
    let sent = fake.requests()[3].clone();
    assert_eq!(sent["messages"].as_array().unwrap().len(), 1);
    let begin = texts(&sent, 0);
    assert_eq!(begin.len(), 3);
    assert!(begin[0].contains("<notes>\nFound: 42.\n</notes>"), "{}", begin[0]);
    assert!(begin[1].contains("<instruction>\nnever use < 41\n</instruction>"), "{}", begin[1]);
    assert_eq!(begin[2], "sure?");

    let again = harness.clone().resume(&path).unwrap();
    assert_eq!((again.messages(), again.session_id()), (harness.messages(), id));
    within(again.prompt("really?")).await.unwrap();
    let resumed = fake.requests()[4].clone();
    assert_eq!(texts(&resumed, 0), begin);
    assert_eq!(texts(&resumed, 1), ["As I said."]);
}

/// R2-08, C13: an overflow in mid-turn shortens the conversation and asks once more with the same
/// prompt; the caller sees a prompt that went well.
#[tokio::test]
async fn a_conversation_that_is_too_long_is_shortened_and_the_prompt_goes_on() {
    let fake = Fake::start(vec![
        says("hello"),
        calls("a", "puppet", &json!({"say": "a long page"})),
        overflow(),
        says("The page was read."),
        says("done"),
    ])
    .await;
    let (harness, told) = fake.harness(puppet());
    within(harness.prompt("hi")).await.unwrap();
    let finished = within(harness.prompt("read the page, touch nothing")).await.unwrap();
    assert_eq!((finished.stop, finished.final_text.as_str()), (StopReason::EndTurn, "done"));
    assert_eq!(finished.usage.output_tokens, 21, "the summary is counted");
    let requests = fake.requests();
    assert!(record(&requests[3]).contains("[result of puppet]\na long page"));
    assert_eq!(requests[4]["messages"].as_array().unwrap().len(), 1);
    let begin = texts(&requests[4], 0);
    assert!(begin[1].contains("<instruction>\nhi\n</instruction>"), "{begin:?}");
    assert_eq!(begin[2..], ["read the page, touch nothing"], "the same prompt again");
    assert!(requests[4]["tools"].is_array());
    assert_eq!(
        told.only(&["compaction", "user", "usage"]),
        [
            "user hi",
            "usage 15+7",
            "user read the page, touch nothing",
            "usage 15+7",
            "compaction begun",
            "compaction done The page was read.",
            "usage 15+7",
        ]
    );
}

/// R2-08, C3: what was said in the turn at hand comes back whole, however much that is.
#[tokio::test]
async fn the_prompt_at_hand_and_what_was_added_to_it_come_back_whole() {
    let prompt = format!("sort this: {}", "z".repeat(100_000));
    let fake = Fake::start(vec![
        says("hello"),
        calls("a", "gate", &json!({})),
        overflow(),
        says("notes"),
        says("done"),
    ])
    .await;
    let gate = std::sync::Arc::new(Gate::default());
    let (harness, told) = fake.harness(vec![std::sync::Arc::clone(&gate) as _]);
    within(harness.prompt("hi")).await.unwrap();
    let steer = async {
        told.until("status running tool: gate").await;
        let steers: Vec<_> = (0..16).map(|n| harness.steer(&format!("also {n}"))).collect();
        assert!(steers.iter().all(Result::is_ok));
        gate.open();
    };
    let (finished, ()) = within(async { futures::join!(harness.prompt(&prompt), steer) }).await;
    assert_eq!(finished.unwrap().final_text, "done");
    let begin = texts(&fake.requests()[4], 0);
    assert_eq!((begin.len(), begin[2] == prompt), (2 + 17, true));
    assert_eq!((begin[3].as_str(), begin[18].as_str()), ("also 0", "also 15"));
}

/// R2-08: once, not for ever.
#[tokio::test]
async fn a_second_overflow_in_one_prompt_is_told() {
    let again = || calls("a", "puppet", &json!({}));
    let fake =
        Fake::start(vec![says("hello"), overflow(), says("notes"), again(), overflow()]).await;
    let (harness, _) = fake.harness(puppet());
    within(harness.prompt("hi")).await.unwrap();
    let Err(PromptError::Api(error)) = within(harness.prompt("go")).await else { panic!() };
    assert_eq!(error.kind, ApiErrorKind::ContextOverflow);
    assert_eq!(fake.requests().len(), 5);
}

#[tokio::test]
async fn a_response_at_the_end_of_the_context_is_gone_on_from_after_shortening() {
    let full = whole(
        &[text(0, "and then"), tool(1, "t", "puppet", &json!({}))],
        "model_context_window_exceeded",
    );
    let fake = Fake::start(vec![full, says("notes"), says("there")]).await;
    let (harness, told) = fake.harness(puppet());
    assert_eq!(within(harness.prompt("go")).await.unwrap().final_text, "there");
    assert_eq!(told.only(&["result", "error"]), [""; 0], "the call was not run");
}

/// R4-07: who wants it, hears of the overflow; and a single message cannot be shortened.
#[tokio::test]
async fn an_overflow_fails_the_prompt_where_shortening_is_off_or_no_use() {
    for (asked, prompts) in [(Overflow::Fail, 2), (Overflow::Compact, 1)] {
        let mut script: Vec<Reply> = (1..prompts).map(|_| says("hello")).collect();
        script.push(overflow());
        let fake = Fake::start(script).await;
        let mut config = fake.config();
        config.overflow = asked;
        let harness = Harness::new(config, vec![], None).unwrap();
        for _ in 1..prompts {
            within(harness.prompt("hi")).await.unwrap();
        }
        let Err(PromptError::Api(error)) = within(harness.prompt("go")).await else { panic!() };
        assert_eq!(error.kind, ApiErrorKind::ContextOverflow);
        assert_eq!(fake.requests().len(), prompts, "no summary was asked for");
    }
}

/// A failure leaves conversation and log as they were.
#[tokio::test]
async fn a_failed_compaction_changes_nothing() {
    let refusal = || {
        let error = json!({"type": "invalid_request_error", "message": "no"});
        Reply::Refusal(400, vec![], json!({"error": error}))
    };
    let declined = || whole(&[text(0, "I can't")], "refusal");
    let empty = || whole(&[], "end_turn");
    for (reply, expected) in [
        (refusal(), "cannot get a summary"),
        (declined(), "the model gave no summary"),
        (empty(), "the model gave no summary"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("session.jsonl");
        let fake = Fake::start(vec![says("hello"), reply, says("on we go")]).await;
        let (harness, told) = fake.harness(vec![]);
        let harness = harness.resume(&path).unwrap();
        within(harness.prompt("hi")).await.unwrap();
        let before = fs::read(&path).unwrap();
        let error = within(harness.compact()).await.unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(fs::read(&path).unwrap(), before);
        assert_eq!(told.only(&["compaction failed"]), [format!("compaction failed: {expected}")]);
        assert_eq!(told.lines().last().unwrap(), &format!("status idle: {expected}"));
        within(harness.prompt("more")).await.unwrap();
        assert_eq!(texts(&fake.requests()[2], 0), ["hi"]);
    }
}

/// R4-08, R4-09: shortening is one of the things of which there is one at a time, and it can be
/// cancelled.
#[tokio::test]
async fn a_compaction_excludes_prompts_and_can_be_cancelled() {
    let fake =
        Fake::start(vec![says("hello"), Reply::Silent(vec![start()]), says("on we go")]).await;
    let (harness, _) = fake.harness(vec![]);
    assert!(matches!(harness.compact().await, Err(CompactError::Nothing)));
    within(harness.prompt("hi")).await.unwrap();
    let meanwhile = async {
        fake.seen(2).await;
        assert!(matches!(harness.prompt("no").await, Err(PromptError::Busy)));
        assert!(matches!(harness.compact().await, Err(CompactError::Busy)));
        assert!(matches!(harness.clear(), Err(ClearError::Busy)));
        assert!(harness.steer("no").is_err());
        harness.cancel();
    };
    let (outcome, ()) = within(async { futures::join!(harness.compact(), meanwhile) }).await;
    assert!(matches!(outcome, Err(CompactError::Cancelled)));
    within(harness.prompt("more")).await.unwrap();
    assert_eq!(texts(&fake.requests()[2], 0), ["hi"]);
}

#[tokio::test]
async fn a_passing_failure_of_the_summary_is_repeated() {
    let body = json!({"error": {"type": "overloaded_error", "message": "x"}});
    let fake = Fake::start(vec![
        says("hello"),
        Reply::Refusal(529, vec![], body),
        Reply::Broken(vec![start(), text(0, "half")]),
        says("notes"),
    ])
    .await;
    let (harness, told) = fake.harness(vec![]);
    within(harness.prompt("hi")).await.unwrap();
    let compacted = within(harness.compact()).await.unwrap();
    assert_eq!(compacted.summary, "notes");
    assert_eq!(compacted.usage.input_tokens, 20, "the broken one was paid for too");
    assert_eq!(
        told.only(&["retry"]),
        ["retry 1 Overloaded { retry_after: None }", "retry 2 Dropped"]
    );
}

/// The record itself may be too long: it is halved until the API takes it.
#[tokio::test]
async fn a_record_that_is_too_long_to_be_summed_up_is_halved() {
    let page = |number: usize| format!("{number}{}", "x".repeat(15_000));
    let mut script: Vec<Reply> = (0..4).map(|_| says("ok")).collect();
    script.extend([overflow(), overflow(), overflow(), overflow(), says("notes")]);
    let fake = Fake::start(script).await;
    let mut config = fake.config();
    config.model = "of-another-server".into();
    let harness = Harness::new(config, vec![], None).unwrap();
    for number in 0..4 {
        within(harness.prompt(&page(number))).await.unwrap();
    }
    within(harness.compact()).await.unwrap();
    let lengths: Vec<usize> = fake.requests()[4..].iter().map(|it| record(it).len()).collect();
    assert!(lengths[0] > 60_000 && lengths[0] == lengths[2], "{lengths:?}");
    assert!(lengths[3] < lengths[2] && lengths[4] < 27_000, "{lengths:?}");
    assert!(record(&fake.requests()[8]).contains("older entries left out"));
}

/// C13: instructions survive as many compactions as come, the newest first when room is short.
#[tokio::test]
async fn instructions_survive_a_second_compaction_word_for_word() {
    let mut script = vec![says("a"), says("notes 1"), says("b"), says("notes 2"), says("c")];
    script.extend([says("notes 3"), says("d")]);
    let fake = Fake::start(script).await;
    let (harness, _) = fake.harness(vec![]);
    within(harness.prompt("rule one")).await.unwrap();
    within(harness.compact()).await.unwrap();
    within(harness.prompt("rule two")).await.unwrap();
    within(harness.compact()).await.unwrap();
    let long = "y".repeat(60_000);
    within(harness.prompt(&long)).await.unwrap();
    let kept = &texts(&fake.requests()[4], 0)[1];
    assert!(kept.contains("rule one\n") && kept.contains("rule two\n"), "{kept}");
    assert!(record(&fake.requests()[3]).contains("notes 1"), "the older notes are summed up too");
    within(harness.compact()).await.unwrap();
    within(harness.prompt("go")).await.unwrap();
    let kept = &texts(&fake.requests()[6], 0)[1];
    assert!(!kept.contains("rule") && kept.contains("yyy") && kept.len() < 50_000);
}

/// C13: emptied, and the session goes on under its id; nothing is lost from the log.
#[tokio::test]
async fn a_cleared_conversation_begins_anew_and_stays_in_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.jsonl");
    let fake = Fake::start(vec![says("hello"), says("hello again"), says("and again")]).await;
    let (harness, _) = fake.harness(vec![]);
    let harness = harness.resume(&path).unwrap();
    within(harness.prompt("my name is Ada")).await.unwrap();
    let (id, before) = (harness.session_id(), fs::read(&path).unwrap());
    harness.clear().unwrap();
    assert_eq!(harness.session_id(), id);
    assert!(fs::read(&path).unwrap().starts_with(&before));
    within(harness.prompt("who am I?")).await.unwrap();
    assert_eq!(fake.requests()[1]["messages"].as_array().unwrap().len(), 1);
    assert_eq!(texts(&fake.requests()[1], 0), ["who am I?"]);
    assert_eq!(harness.messages().unwrap().len(), 4);
    let again = harness.resume(&path).unwrap();
    assert_eq!(again.session_id(), id);
    within(again.prompt("still?")).await.unwrap();
    assert_eq!(texts(&fake.requests()[2], 0), ["who am I?"]);
}

/// A call that a dropped prompt left open is answered before its view ends.
#[tokio::test]
async fn an_open_call_does_not_reach_into_the_next_view() {
    for shorten in [true, false] {
        let mut script = vec![calls("a", "puppet", &json!({"hang": "for ever"}))];
        script.extend(shorten.then(|| says("notes")));
        script.push(says("ok"));
        let fake = Fake::start(script).await;
        let (harness, told) = fake.harness(puppet());
        tokio::select! {
            outcome = harness.prompt("go") => panic!("{outcome:?}"),
            () = told.until("status running tool: puppet") => {}
        }
        if shorten {
            within(harness.compact()).await.unwrap();
        } else {
            harness.clear().unwrap();
        }
        within(harness.prompt("again")).await.unwrap();
    }
}

/// Makes a session log with every kind of record.
pub(crate) async fn with_every_record(path: &Path) {
    let message = "Invalid `signature` in `thinking` block";
    let stale = json!({"error": {"type": "invalid_request_error", "message": message}});
    let thinking = block(
        0,
        json!({"type": "thinking", "thinking": "", "signature": "s"}),
        vec![json!({"type": "thinking_delta", "thinking": "Hm"})],
    );
    let fake = Fake::start(vec![
        whole(&[thinking, tool(1, "a", "puppet", &json!({"say": "one"}))], "tool_use"),
        Reply::Refusal(400, vec![], stale),
        says("first"),
        says("the notes"),
        calls("b", "puppet", &json!({"fail": "two"})),
        whole(&[text(0, "I"), tool(1, "c", "puppet", &json!({}))], "refusal"),
        says("second"),
        says("third"),
    ])
    .await;
    let (harness, _) = fake.harness(puppet());
    let harness = harness.resume(path).unwrap();
    within(harness.prompt("one")).await.unwrap();
    within(harness.compact()).await.unwrap();
    within(harness.prompt("bad")).await.unwrap();
    within(harness.prompt("two")).await.unwrap();
    harness.clear().unwrap();
    within(harness.prompt("three")).await.unwrap();
    let log = fs::read_to_string(path).unwrap();
    for kind in ["summary", "clear", "refused", "thoughts_dropped"] {
        assert!(log.contains(&format!("\"kind\":\"{kind}\"")), "{kind}");
    }
}
