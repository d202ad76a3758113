//! Every cell of the suite can fail: each breach of a rule is seen, by the cells of that rule.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use gangline_conformance::{Score, cells};
use gangline_os::task::{HowEnded, TaskGroup};
use gangline_runtime::{
    ApprovalAsk, AssistantMessage, Permissions, Runtime, RuntimeEvent, SessionId, ToolCall,
    ToolHost, ToolSpec, TurnResult, Usage, adapters,
    registry::dialect::{self, How, Known},
};
use serde_json::json;
use tokio::sync::mpsc;

use super::{
    bench::Bench,
    flawed::{Action, Flaw, Flawed},
    toy::Toy,
    toys,
};

/// A flaw of that name, and the cells that must see it.
type Case = (&'static str, Flaw, &'static [&'static str]);

/// What all but the given events becomes of itself.
macro_rules! told {
    ($event:pat => $told:expr) => {
        Flaw::tell(|event| match event {
            $event => $told,
            other => vec![other],
        })
    };
}

/// Flaws of an adapter with a program.
#[expect(clippy::too_many_lines, reason = "a table of cases, or one story told in order")]
fn of_the_toy() -> Vec<Case> {
    use RuntimeEvent as E;
    vec![
        (
            "ready twice",
            told!(E::Ready { session } => {
                vec![E::Ready { session: session.clone() }, E::Ready { session }]
            }),
            &["contract"],
        ),
        ("never ready", told!(E::Ready { .. } => vec![]), &["starts"]),
        (
            "no id",
            told!(E::Ready { .. } => {
                vec![E::Ready { session: SessionId(String::new()) }]
            }),
            &["session_id", "apart"],
        ),
        ("a wrong handle", Flaw::action(Action::HasAWrongHandle), &["handle"]),
        ("elsewhere", Flaw::options(|it| it.workdir = it.tmp_dir.clone()), &["handle", "workdir"]),
        ("drops the first prompt", Flaw::options(|it| it.initial_prompt = None), &["first_prompt"]),
        ("loses early prompts", Flaw::action(Action::LosesEarlyPrompts), &["early_prompt"]),
        ("never accepted", told!(E::Accepted { .. } => vec![]), &["accepted", "contract"]),
        (
            "accepted twice",
            told!(E::Accepted { turn } => {
                vec![E::Accepted { turn }, E::Accepted { turn }]
            }),
            &["contract"],
        ),
        (
            "dumb",
            told!(E::Message { turn, message } => {
                vec![E::Message { turn, message: AssistantMessage { content: vec![], ..message } }]
            }),
            &["answers", "thinking", "order", "tool_call"],
        ),
        (
            "no model",
            told!(E::Message { turn, message } => {
                vec![E::Message { turn, message: AssistantMessage { model: String::new(), ..message } }]
            }),
            &["answers"],
        ),
        ("no end", told!(E::Finished { .. } => vec![]), &["answers"]),
        (
            "two ends",
            told!(E::Finished { turn, result } => {
                vec![E::Finished { turn, result: result.clone() }, E::Finished { turn, result }]
            }),
            &["contract"],
        ),
        ("stops after two", Flaw::action(Action::RefusesAfter(2)), &["order"]),
        ("prompt waits", Flaw::action(Action::WaitsForAnswers), &["prompt_returns"]),
        ("takes a second", Flaw::action(Action::TakesASecondPrompt), &["busy", "contract"]),
        (
            "cannot be interrupted",
            Flaw::action(Action::NeverInterrupts),
            &["interrupt", "ask_interrupt"],
        ),
        (
            "interrupted is done",
            told!(E::Finished { turn, .. } => {
                vec![E::Finished { turn, result: TurnResult::Completed }]
            }),
            &[
                "interrupt",
                "ask_interrupt",
                "error_500",
                "error_529",
                "error_429",
                "error_401",
                "overflow",
            ],
        ),
        (
            "limited for ever",
            told!(E::Finished { turn, result: TurnResult::RateLimited { .. } } => {
                vec![E::Finished { turn, result: TurnResult::RateLimited { retry_after: None } }]
            }),
            &["retry_after"],
        ),
        (
            "limited for long",
            told!(E::Finished { turn, result: TurnResult::RateLimited { .. } } => {
                let result = TurnResult::RateLimited { retry_after: Some(3000) };
                vec![E::Finished { turn, result }]
            }),
            &["retry_after"],
        ),
        (
            "does not wait",
            told!(E::Finished { turn, result: TurnResult::RateLimited { .. } } => {
                vec![E::Finished { turn, result: TurnResult::Completed }]
            }),
            &["retry_after", "error_429"],
        ),
        ("sulks", Flaw::action(Action::RefusesAfterAnInterrupt), &["goes_on", "interrupt_idle"]),
        ("despairs", Flaw::action(Action::RefusesAfterAnError), &["after_error"]),
        ("hides results", told!(E::ToolResult { .. } => vec![]), &["tool_call"]),
        (
            "mixes up results",
            told!(E::ToolResult { turn, name, is_error, content, .. } => {
                vec![E::ToolResult { turn, id: "x".to_owned(), name, is_error, content }]
            }),
            &["tool_call"],
        ),
        (
            "never asks",
            Flaw::options(|it| it.permissions = Permissions::Bypass),
            &["ask_allow", "ask_deny", "allowlist"],
        ),
        (
            "always asks",
            Flaw::options(|it| it.permissions = Permissions::Ask),
            &["allowed_tools", "bypass", "allowlist"],
        ),
        (
            "deaf to a no",
            Flaw::action(Action::AllowsAll),
            &["ask_deny", "deny_told", "reads_outside"],
        ),
        ("deaf to a yes", Flaw::action(Action::DeniesAll), &["ask_allow", "reads_outside"]),
        (
            "asks blindly",
            told!(E::ApprovalAsked { turn, ask } => {
                vec![E::ApprovalAsked { turn, ask: ApprovalAsk { input: json!({}), ..ask } }]
            }),
            &["reads_outside", "reads_closed"],
        ),
        ("gives no reason", Flaw::action(Action::DeniesWithoutReason), &["deny_told"]),
        (
            "counts twice",
            told!(E::Usage { turn, usage } => {
                let output_tokens = usage.output_tokens * 2;
                vec![E::Usage { turn, usage: Usage { output_tokens, ..usage } }]
            }),
            &["usage"],
        ),
        (
            "a bare environment",
            Flaw::options(|it| it.env.retain(|(name, _)| name != "GT_SESSION_ID")),
            &["environment"],
        ),
        ("leaks", Flaw::options(|it| it.env.extend(std::env::vars())), &["no_leak"]),
        ("pedantic", Flaw::action(Action::RefusesUnknownFields), &["unknown_fields"]),
        ("blind", Flaw::action(Action::NeverRuns), &["detect_running"]),
        ("sees ghosts", Flaw::action(Action::AlwaysRuns), &["detect_running"]),
        (
            "leaves a process",
            Flaw::action(Action::LeavesAProcess),
            &["stop", "stop_mid_turn", "crash"],
        ),
        (
            "a wrong end",
            told!(E::Exited { .. } => vec![E::Exited { code: 3 }]),
            &["stop", "stop_mid_turn"],
        ),
        ("a good crash", told!(E::Exited { .. } => vec![E::Exited { code: 0 }]), &["crash"]),
        ("no exit", told!(E::Exited { .. } => vec![]), &["stop", "crash"]),
    ]
}

/// Flaws in what the toy cannot do and the native loop can.
fn of_native() -> Vec<Case> {
    use RuntimeEvent as E;
    vec![
        ("keeps its model", Flaw::action(Action::KeepsItsModel), &["set_model"]),
        ("keeps its context", Flaw::action(Action::KeepsItsContext), &["compact", "clear"]),
        ("drops what is added", Flaw::action(Action::DropsSteers), &["steer"]),
        ("does not tell what was added", told!(E::Steered { .. } => vec![]), &["steer"]),
        (
            "cannot shorten",
            told!(E::Compacted { .. } => {
                vec![E::Compacted { failed: Some("no".to_owned()) }]
            }),
            &["compact"],
        ),
        ("lists nothing", Flaw::action(Action::ListsNothing), &["list_sessions"]),
        ("lists too much", Flaw::action(Action::ListsEverywhere), &["list_sessions"]),
        (
            "no tools",
            Flaw::options(|it| it.tools = Arc::new(Tools::None)),
            &["host_tool", "host_tool_refused"],
        ),
        (
            "another turn",
            Flaw::options(|it| {
                it.tools = Arc::new(Tools::InAnotherTurn(Arc::clone(&it.tools)));
            }),
            &["host_tool"],
        ),
        (
            "pretends",
            Flaw::options(|it| {
                it.tools = Arc::new(Tools::NeverRefusing(Arc::clone(&it.tools)));
            }),
            &["host_tool_refused"],
        ),
        ("forgets", Flaw::options(|it| it.resume = None), &["resume"]),
        ("says nothing", told!(E::Notice { .. } => vec![]), &["lost_session"]),
        ("no servers", Flaw::options(|it| it.mcp_servers.clear()), &["mcp_stdio", "mcp_http"]),
    ]
}

/// A daemon's tools, not quite as they are.
enum Tools {
    None,
    InAnotherTurn(Arc<dyn ToolHost>),
    NeverRefusing(Arc<dyn ToolHost>),
}

#[async_trait::async_trait]
impl ToolHost for Tools {
    fn tools(&self) -> Vec<ToolSpec> {
        match self {
            Self::None => Vec::new(),
            Self::InAnotherTurn(inner) | Self::NeverRefusing(inner) => inner.tools(),
        }
    }

    async fn call(&self, mut call: ToolCall) -> Result<String, String> {
        match self {
            Self::None => Err("no such tool".to_owned()),
            Self::InAnotherTurn(inner) => {
                call.turn.number += 1;
                inner.call(call).await
            }
            Self::NeverRefusing(inner) => Ok(inner.call(call).await.unwrap_or_default()),
        }
    }
}

const SHORT: dialect::Pace = dialect::Pace {
    ready: Duration::from_secs(5),
    turn: Duration::from_secs(5),
    retries: Duration::from_secs(5),
};
/// How many flawed adapters are tried at once: most of their time they wait.
const AT_ONCE: usize = 6;

/// Runs the cells of a case; returns what did not see the flaw.
async fn unseen((name, flaw, cells): Case, of: fn() -> Box<dyn Runtime>) -> Vec<String> {
    let make = move || -> Box<dyn Runtime> { Box::new(Flawed::new(of(), flaw)) };
    let can = of().capabilities(None, &BTreeMap::new()).unwrap();
    let mut bench = match can.steer {
        true => Bench::with(*dialect::find("native").unwrap(), Box::new(make), None).await,
        false => toys::bench(make).await,
    };
    bench.subject.dialect.pace = SHORT;
    bench.subject.only = cells.to_vec();
    if cells.contains(&"contract") {
        // The order of events is seen in whatever is tried.
        bench.subject.only.extend(["answers", "busy"]);
    }
    let report = bench.run().await;
    let blind = cells.iter().filter(|id| !matches!(report.score(id), Some(Score::No(_))));
    blind.map(|id| format!("{name}: {id} is {:?}", report.score(id))).collect()
}

async fn all_are_seen(cases: Vec<Case>, of: fn() -> Box<dyn Runtime>) {
    let (sender, mut found) = mpsc::channel(cases.len());
    let mut tasks = TaskGroup::new("flaws");
    for case in cases {
        if tasks.len() >= AT_ONCE {
            tasks.next_end().await;
        }
        let sender = sender.clone();
        tasks.spawn(case.0, async move {
            sender.send(unseen(case, of).await).await.unwrap();
        });
    }
    while let Some(end) = tasks.next_end().await {
        assert_eq!(end.how, HowEnded::Finished, "{end:?}");
    }
    drop(sender);
    let mut all = Vec::new();
    while let Some(some) = found.recv().await {
        all.extend(some);
    }
    assert!(all.is_empty(), "{all:#?}");
}

/// Each flaw is seen by the cells that are there for it.
#[tokio::test]
async fn each_flaw_is_seen() {
    all_are_seen(of_the_toy(), || Box::new(Toy)).await;
}

/// The same for what only some backends can do.
#[tokio::test]
async fn each_flaw_of_an_able_backend_is_seen() {
    all_are_seen(of_native(), || adapters::make("native").unwrap()).await;
}

/// What a program is known to be silent about is hidden only while it is silent: a wrong word is a
/// wrong word.
#[tokio::test]
async fn silence_excuses_silence_only() {
    use RuntimeEvent as E;
    const KNOWN: &[Known] =
        &[Known { cell: "error_500", how: How::Silent, why: "it is like that" }];
    let silent = told!(E::Finished { result: TurnResult::Failed { .. }, .. } => vec![]);
    let wrong = told!(E::Finished { turn, result: TurnResult::Failed { .. } } => {
        vec![E::Finished { turn, result: TurnResult::Completed }]
    });
    let hidden = Score::Hidden("nothing within 4 s: it is like that".to_owned());
    let no = Score::No("the turn ended as Completed".to_owned());
    for (flaw, expected) in [(silent, hidden), (wrong, no), (Flaw::NONE, Score::Yes)] {
        let mut bench = toys::bench(move || Box::new(Flawed::new(Box::new(Toy), flaw))).await;
        bench.subject.dialect.known = KNOWN;
        bench.subject.only = vec!["error_500"];
        assert_eq!(bench.run().await.score("error_500"), Some(&expected));
    }
}

/// What holds in some runs only is never a yes.
#[tokio::test]
async fn luck_is_no_proof() {
    const KNOWN: &[Known] = &[Known { cell: "answers", how: How::AtTimes, why: "at times" }];
    let mut bench = toys::bench(|| Box::new(Toy)).await;
    bench.subject.dialect.known = KNOWN;
    bench.subject.only = vec!["answers"];
    let hidden = Score::Hidden("at times".to_owned());
    assert_eq!(bench.run().await.score("answers"), Some(&hidden));
}

/// No cell is there that nothing above makes fail. The window of a context is told or hidden.
#[test]
fn every_cell_can_fail() {
    let cases: Vec<Case> = of_the_toy().into_iter().chain(of_native()).collect();
    let seen = |id: &str| cases.iter().any(|(_, _, cells)| cells.contains(&id));
    let never: Vec<&str> = cells::CELLS.iter().map(|cell| cell.id).filter(|id| !seen(id)).collect();
    assert_eq!(never, ["window"]);
}
