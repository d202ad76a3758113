//! `gangline prompt`: a message from the command line, and its answer if it is waited for.

use std::{
    collections::HashSet,
    io::{self, Read as _},
    time::Duration,
};

use gangline_core::{
    AgentName, ApprovalNumber, MessageId, MessageState, Origin, Redactor, unreached::Unreached,
};
use gangline_os::{change_notice, clock, lock, paths::Paths};
use gangline_store::{MessageRow, NewMessage, Store};

use super::decide;
use crate::{
    caller::{self, Caller},
    cli::{Global, number},
    failure::Failure,
    names, output, place, show, store, view,
    who::Who,
};

/// The largest text that is taken, in bytes.
const TEXT_MAX: u64 = 1024 * 1024;
/// How often the row is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// How often it is looked for a question that somebody has to answer first.
const ASK_EVERY: Duration = Duration::from_secs(1);
/// The exit code when there is no answer.
const NO_ANSWER: u8 = 1;

/// Send a prompt to an agent from the command line
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent's nick
    pub(crate) agent: Who,
    /// The text, quoted or not; `-` reads standard input
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// Wait for the answer and print it
    #[arg(long)]
    pub(crate) wait: bool,
    /// Stop waiting after this many seconds (exit code 1; the message stays queued)
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "wait",
          value_parser = number::within::<u64>(0, number::ANY))]
    pub(crate) timeout: u64,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    caller::refuse("prompt in the owner's name")?;
    let text = text(args.text.join(" "))?;
    send(global, (&args.agent, &text), args.wait.then_some(args.timeout)).await
}

/// Sends a text to an agent; with `wait`, in seconds, prints the answer.
pub(super) async fn send(
    global: &Global,
    (who, text): (&Who, &str),
    wait: Option<u64>,
) -> Result<u8, Failure> {
    let installation = place::existing(&global.place())?;
    let agent = names::agent(&installation, who)?;
    let paths = installation.paths;
    let store = store::for_message(&paths, &agent).await?;
    store::known(&store, &paths, &agent).await?;
    let accepted = store.accept(message(&agent, text)).await?;
    change_notice::notify(&paths.change_notice(agent.folded()));
    warn_if_down(&paths, &agent, "the message");
    let Some(timeout) = wait else {
        return print_outcome(global, &store, accepted.id).await;
    };
    output::note(&accepted.id.to_string());
    match settled(&store, accepted.id, Duration::from_secs(timeout)).await? {
        Some(row) => answered(global, &row),
        None => Err(Failure::user(format!(
            "{} has no answer after {timeout} s; it stays queued",
            accepted.id
        ))
        .hint(format!("`gangline trace {}` shows its state", accepted.id))),
    }
}

fn text(given: String) -> Result<String, Failure> {
    let text = if given == "-" { from_stdin()? } else { given };
    match text.trim() {
        "" => Err(Failure::user("the prompt is empty")),
        text => Ok(text.to_owned()),
    }
}

fn from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    io::stdin()
        .take(TEXT_MAX + 1)
        .read_to_string(&mut text)
        .map_err(|error| Failure::environment(error).doing("cannot read standard input"))?;
    if text.len() as u64 > TEXT_MAX {
        return Err(Failure::user(format!("a prompt has at most {TEXT_MAX} bytes")));
    }
    Ok(text)
}

fn message(agent: &AgentName, text: &str) -> NewMessage {
    NewMessage {
        agent: agent.clone(),
        network_id: "local".to_owned(),
        intake_key: None,
        origin: Origin::Cli,
        principal: decide::owner(),
        sender: Caller::here().known_as().to_owned(),
        target: String::new(),
        body: Redactor::new([]).redact(text),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}

/// Warns that nobody takes `what` at once.
pub(super) fn warn_if_down(paths: &Paths, agent: &AgentName, what: &str) {
    if let Ok(None) = lock::probe(&paths.agent_lock(agent.folded())) {
        output::note(&format!(
            "warning: the daemon of {agent} is not running: {what} waits until it is"
        ));
    }
}

async fn print_outcome(global: &Global, store: &Store, id: MessageId) -> Result<u8, Failure> {
    if global.json {
        output::json(&store.message(id).await?.as_ref().map(view::message))?;
    } else {
        output::print(&format!("{id}\n"))?;
    }
    Ok(0)
}

/// Waits until nothing more will happen to the message; none when the patience is over. Says
/// meanwhile which approvals it waits for: no room hears of those.
async fn settled(
    store: &Store,
    id: MessageId,
    patience: Duration,
) -> Result<Option<MessageRow>, Failure> {
    let clock = clock::system();
    let begun = clock.monotonic();
    let (mut told, mut ask_at) = (HashSet::new(), begun);
    loop {
        match store.message(id).await? {
            Some(row) if row.state.is_terminal() => return Ok(Some(row)),
            Some(row) if clock.monotonic() >= ask_at => {
                ask_at = clock.monotonic() + ASK_EVERY;
                report_approvals(store, &row, &mut told).await?;
            }
            Some(_) => {}
            None => return Err(Failure::user(format!("{id} is gone from the store"))),
        }
        if clock.monotonic().saturating_sub(begun) >= patience {
            return Ok(None);
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

/// Reports, once for each, the approvals that the message waits for.
async fn report_approvals(
    store: &Store,
    row: &MessageRow,
    told: &mut HashSet<ApprovalNumber>,
) -> Result<(), Failure> {
    let open = store.approvals(Some(&row.agent), true).await?;
    for approval in open.iter().filter(|approval| approval.message == Some(row.id)) {
        let number = approval.number;
        if told.insert(number) {
            let tool = show::text::one_line(&approval.tool);
            let what = show::text::one_line(approval.summary.as_str());
            output::note(&format!(
                "approval {number} is open ({tool}: {what}): `gangline approvals {number}` shows \
                 all of \
                 it; `gangline approve {number}` or `gangline deny {number} --reason TEXT`"
            ));
        }
    }
    Ok(())
}

fn answered(global: &Global, row: &MessageRow) -> Result<u8, Failure> {
    if global.json {
        output::json(&view::message(row))?;
    } else if let Some(answer) = &row.answer {
        output::print(&format!("{}\n", show::text::lines(answer.as_str().trim_end())))?;
    }
    match row.state {
        MessageState::Answered => Ok(0),
        MessageState::NoReply => {
            output::note("the agent says that no reply is needed");
            Ok(0)
        }
        state => {
            let reason = row.reason.as_deref().map(why);
            let reason = reason.map_or_else(String::new, |reason| format!(": {reason}"));
            let id = row.id;
            output::note(&format!(
                "{id} is {state}{reason}; `gangline trace {id}` shows all of it"
            ));
            Ok(NO_ANSWER)
        }
    }
}

/// Returns the reason of a message without an answer as a sentence; one that is not known as it is.
fn why(reason: &str) -> String {
    let known = match reason {
        "turn_failed:auth" => "the model refused the key or the login",
        "turn_failed:provider" => "the model's service failed",
        "turn_failed:context_overflow" => "the conversation no longer fits the model's context",
        "turn_failed:request" => "the model refused the request as invalid",
        "turn_failed:step_limit" => "the turn reached its limit of model calls",
        "turn_failed:budget_spent" => "the budget for today is spent",
        "needs_login" => "the backend has no login",
        "timed_out" => "the turn took too long",
        "turn_lost" => "the backend died in the turn",
        "interrupted:operator" => "a person interrupted the turn",
        "rate_limited" => "the model's rate limit is reached",
        "silent" => "the turn ended without any text",
        other => {
            let cause = other.strip_prefix("turn_failed:").and_then(|kind| kind.parse().ok());
            return cause
                .map_or_else(|| show::text::one_line(other), |it: Unreached| it.told().to_owned());
        }
    };
    known.to_owned()
}
