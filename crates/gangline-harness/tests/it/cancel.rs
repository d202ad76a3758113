//! Cancel: in the stream, in a tool, in a question, in a pause, and when nothing runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gangline_harness::tools::Bash;
use gangline_harness::{Authorization, Authorizer, Harness, PromptError, Tool, ToolCall};
use gangline_os::process::base_env;
use serde_json::json;

use crate::fake::*;

/// Runs a prompt and cancels it as soon as the handler was told this line.
async fn cancelled_at(harness: &Harness, told: &Recorder, line: &str) {
    let cancel = async {
        told.until(line).await;
        harness.cancel();
    };
    let (outcome, ()) = within(async { futures::join!(harness.prompt("go"), cancel) }).await;
    assert!(matches!(outcome, Err(PromptError::Cancelled)), "{outcome:?}");
    assert_eq!(told.lines().last().unwrap(), "status idle: the prompt was cancelled");
}

/// R4-09.
#[tokio::test]
async fn cancel_without_a_prompt_does_nothing() {
    let fake = Fake::start(vec![says("hi")]).await;
    let (harness, _) = fake.harness(vec![]);
    harness.cancel();
    within(harness.prompt("go")).await.unwrap();
    harness.cancel();
}

/// R4-07, R4-09: blocks that were complete stay, open calls are answered.
#[tokio::test]
async fn cancel_in_mid_stream_keeps_complete_blocks_and_a_valid_history() {
    let script = vec![
        Reply::Silent(vec![
            start(),
            text(0, "wait"),
            tool(1, "t", "puppet", &json!({})),
            open_block(2, json!({"type": "text", "text": "half"}), vec![]),
        ]),
        says("ok"),
    ];
    let fake = Fake::start(script).await;
    let (harness, told) = fake.harness(puppet());
    cancelled_at(&harness, &told, "call t puppet {}").await;
    assert_eq!(told.only(&["result", "error"]), [""; 0], "the tool never ran");

    within(harness.prompt("again")).await.unwrap();
    assert_eq!(
        fake.requests()[1]["messages"][1]["content"],
        json!([
            {"type": "text", "text": "wait"},
            {"type": "tool_use", "id": "t", "name": "puppet", "input": {}},
        ])
    );
    let stub = &fake.requests()[1]["messages"][2]["content"][0];
    assert_eq!(stub["content"], "not executed: cancelled");
}

#[tokio::test]
async fn a_cut_response_that_ends_with_thinking_is_sent_without_it() {
    let thinking = block(
        0,
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        vec![json!({"type": "thinking_delta", "thinking": "Hm"})],
    );
    let fake = Fake::start(vec![Reply::Silent(vec![start(), thinking]), says("ok")]).await;
    let (harness, told) = fake.harness(vec![]);
    cancelled_at(&harness, &told, "reasoning Hm").await;
    within(harness.prompt("again")).await.unwrap();
}

/// R4-09: a polite tool ends with its own result, a deaf one is dropped after the grace.
#[tokio::test]
async fn cancel_in_mid_tool_takes_its_last_word_or_drops_it() {
    for (manner, told_of) in
        [("politely", "result a stopped where it was safe"), ("for ever", "error a cancelled")]
    {
        let blocks =
            [tool(0, "a", "puppet", &json!({"hang": manner})), tool(1, "b", "puppet", &json!({}))];
        let fake = Fake::start(vec![whole(&blocks, "tool_use"), says("ok")]).await;
        let mut config = fake.config();
        config.limits.tool_grace = Duration::from_millis(50);
        let told = Arc::new(Recorder::default());
        let harness = Harness::new(config, puppet(), Some(Arc::clone(&told) as _)).unwrap();
        cancelled_at(&harness, &told, "status running tool: puppet").await;
        assert_eq!(told.only(&["result", "error"]), [told_of]);
        within(harness.prompt("again")).await.unwrap();
        let results = &fake.requests()[1]["messages"][2]["content"];
        assert_eq!(results[1]["content"], "not executed: cancelled");
    }
}

struct Undecided;

#[async_trait::async_trait]
impl Authorizer for Undecided {
    async fn authorize(&self, _: &ToolCall) -> Authorization {
        std::future::pending().await
    }
}

#[tokio::test]
async fn cancel_ends_a_question_that_nobody_answers() {
    let fake = Fake::start(vec![calls("a", "puppet", &json!({})), says("ok")]).await;
    let (harness, told) = fake.harness(puppet());
    let harness = harness.authorized_by(Arc::new(Undecided));
    cancelled_at(&harness, &told, "status running tool: puppet").await;
    within(harness.prompt("again")).await.unwrap();
}

#[tokio::test]
async fn cancel_ends_a_pause_between_repetitions() {
    let body = json!({"error": {"message": "x"}});
    let limited = Reply::Refusal(429, vec![("retry-after", "60")], body);
    let fake = Fake::start(vec![limited]).await;
    let (harness, told) = fake.harness(vec![]);
    cancelled_at(&harness, &told, "retry 1 RateLimited { retry_after: Some(60s) }").await;
}

/// A prompt whose future is dropped leaves no lock behind and no open call.
#[tokio::test]
async fn a_dropped_prompt_is_repaired_by_the_next() {
    let script = vec![calls("a", "puppet", &json!({"hang": "for ever"})), says("ok")];
    let fake = Fake::start(script).await;
    let (harness, told) = fake.harness(puppet());
    {
        let mut prompt = std::pin::pin!(harness.prompt("go"));
        let running = told.until("status running tool: puppet");
        let mut running = std::pin::pin!(running);
        within(async {
            tokio::select! {
                _ = &mut prompt => panic!("the tool hangs"),
                () = &mut running => {}
            }
        })
        .await;
    }
    assert!(!harness.is_busy());
    within(harness.prompt("again")).await.unwrap();
}

pub(crate) fn alive(pid: &str) -> bool {
    // A zombie is dead for our purpose: it runs nothing and waits for its parent.
    let stat = std::fs::read_to_string(Path::new("/proc").join(pid).join("stat"));
    stat.is_ok_and(|stat| !stat.rsplit(')').next().unwrap().trim_start().starts_with(['Z', 'X']))
}

pub(crate) async fn dead(pid: &str) {
    until(|| (!alive(pid)).then_some(())).await;
}

/// Waits until the command has written its grandchild's pid.
async fn grandchild(file: &Path) -> String {
    let whole = |text: String| text.ends_with('\n').then(|| text.trim().to_owned());
    until(|| std::fs::read_to_string(file).ok().and_then(whole)).await
}

const GRANDCHILD: &str = "trap '' TERM; (sleep 300 & echo $! > pid; wait) & wait";

/// R4-09: the whole process group of a shell command ends, also one that ignores TERM.
#[tokio::test]
async fn cancel_kills_the_grandchild_of_a_shell_command() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::start(vec![calls("a", "Bash", &json!({"command": GRANDCHILD}))]).await;
    let mut config = fake.config();
    config.cwd = folder.path().to_owned();
    let bash: Vec<Arc<dyn Tool>> = vec![Arc::new(Bash::new(base_env()))];
    let harness = Harness::new(config, bash, None).unwrap();
    let file = folder.path().join("pid");
    let cancel = async {
        let pid = grandchild(&file).await;
        assert!(alive(&pid));
        harness.cancel();
        pid
    };
    let (outcome, pid) = within(async { futures::join!(harness.prompt("go"), cancel) }).await;
    assert!(matches!(outcome, Err(PromptError::Cancelled)));
    dead(&pid).await;
}

#[tokio::test]
async fn a_timeout_kills_the_grandchild_of_a_shell_command_and_is_told_to_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let input = json!({"command": format!("echo begun; {GRANDCHILD}"), "timeout": 4000});
    let fake = Fake::start(vec![calls("a", "Bash", &input), says("ok")]).await;
    let mut config = fake.config();
    config.cwd = folder.path().to_owned();
    let told = Arc::new(Recorder::default());
    let bash: Vec<Arc<dyn Tool>> = vec![Arc::new(Bash::new(base_env()))];
    let harness = Harness::new(config, bash, Some(Arc::clone(&told) as _)).unwrap();
    within(harness.prompt("go")).await.unwrap();
    assert_eq!(told.only(&["error"]), ["error a timed out after 4s\nbegun\n"]);
    dead(&grandchild(&folder.path().join("pid")).await).await;
}

#[tokio::test]
async fn a_dropped_prompt_kills_the_grandchild_of_a_shell_command() {
    let folder = tempfile::tempdir().unwrap();
    let fake = Fake::start(vec![calls("a", "Bash", &json!({"command": GRANDCHILD}))]).await;
    let mut config = fake.config();
    config.cwd = folder.path().to_owned();
    let bash: Vec<Arc<dyn Tool>> = vec![Arc::new(Bash::new(base_env()))];
    let harness = Harness::new(config, bash, None).unwrap();
    let file = folder.path().join("pid");
    let pid = tokio::select! {
        pid = grandchild(&file) => pid,
        outcome = harness.prompt("go") => panic!("{outcome:?}"),
    };
    dead(&pid).await;
}
