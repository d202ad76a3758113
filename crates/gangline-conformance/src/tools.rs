//! Tools: the program's own, the daemon's, and those of MCP servers.

use super::{
    Score,
    card::Card,
    probe::{REFUSAL, REFUSED},
    session::Session,
    turn::{Said, Turn, Why},
};
use gangline_runtime::{Answer, ApprovalAsk, Block, RuntimeEvent, TurnResult};

/// Waits until the turn asks about its command.
async fn ask(session: &mut Session<'_>, said: &Said) -> Result<ApprovalAsk, Why> {
    let patience = session.subject.dialect.pace.turn;
    let seen = session
        .until(patience, "approval asked", |event| {
            matches!(
                event,
                RuntimeEvent::ApprovalAsked { .. }
                    | RuntimeEvent::Finished { .. }
                    | RuntimeEvent::Exited { .. }
            )
        })
        .await?;
    match seen.last() {
        Some(RuntimeEvent::ApprovalAsked { turn, ask }) if *turn == said.turn => Ok(ask.clone()),
        other => Err(format!("nobody was asked: {other:?}")),
    }
}

/// A command that is asked about and allowed. Its call and its result are to be told.
pub(super) async fn allowed(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let since = card.now();
    let allowed = allow(session, card).await;
    card.judge("tool_call", &allowed, since);
    allowed
}

async fn allow(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let said = session.say("shell").await?;
    let since = card.now();
    let asked = ask(session, &said).await?;
    let file = format!("made-{}.txt", said.word);
    if session.has(&file) {
        return Err("the command ran before it was allowed".to_owned());
    }
    if !asked.input.to_string().contains(&said.word) {
        return Err(format!("the question does not show the command: {}", asked.input));
    }
    session.decide(&asked, Answer::Allow).await?;
    let mut turn = session.finish(said).await?;
    turn.completed()?;
    session.file(&file).await?;
    // What came before the question belongs to the turn as well.
    turn.events.clone_from(&session.told);
    card.judge("tool_call", &calls_reported(&turn), since);
    Ok(())
}

/// A command that runs without a question. Its call and its result are to be told.
pub(super) async fn called(session: &mut Session<'_>) -> Result<(), Why> {
    let turn = session.turn("shell").await?;
    turn.completed()?;
    calls_reported(&turn)
}

/// Looks for a call and its result in the events of the turn.
fn calls_reported(turn: &Turn) -> Result<(), Why> {
    let mut calls = turn.events.iter().filter_map(|event| match event {
        RuntimeEvent::Message { turn: of, message } if *of == turn.said.turn => {
            message.content.iter().find_map(|block| match block {
                Block::ToolUse { id, name, input } => Some((id, name, input)),
                Block::Text { .. } | Block::Thinking { .. } => None,
            })
        }
        _ => None,
    });
    let (id, name, input) = calls.next().ok_or("no message tells the call")?;
    if name.is_empty() || !input.to_string().contains(&turn.said.word) {
        return Err(format!("the call is told as {name:?} with {input}"));
    }
    let output = format!("output-{}", turn.said.word);
    let result = turn.events.iter().find_map(|event| match event {
        RuntimeEvent::ToolResult { id: of, is_error, content, .. } if of == id => {
            Some((*is_error, content))
        }
        _ => None,
    });
    match result {
        Some((false, content)) if content.contains(&output) => Ok(()),
        Some((is_error, content)) => {
            let content: String = content.chars().take(160).collect();
            Err(format!("the result is told as {content:?}, error: {is_error}"))
        }
        None => Err("no result of this call is told".to_owned()),
    }
}

/// A command that is asked about and denied.
pub(super) async fn denied(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let since = card.now();
    let said = session.say("shell").await?;
    let asked = ask(session, &said).await?;
    let reason = format!("not on a Sunday {}", said.word);
    session.decide(&asked, Answer::Deny { reason: reason.clone() }).await?;
    let answer = Answer::Deny { reason: reason.clone() };
    let patience = session.subject.dialect.pace.turn;
    let turn = session.finish_with(said, &answer, patience).await?;
    let heard = session.subject.model.newest_with(&[&reason]).is_some();
    let heard = if heard { Ok(()) } else { Err("the model does not see the reason".to_owned()) };
    card.judge("deny_told", &heard, since);
    if session.has(&format!("made-{}.txt", turn.said.word)) {
        return Err("the command ran although it was denied".to_owned());
    }
    match turn.result {
        TurnResult::Completed | TurnResult::Interrupted => Ok(()),
        other => Err(format!("the turn ended as {other:?}")),
    }
}

/// A turn that is interrupted while it waits for an approval.
pub(super) async fn interrupted(session: &mut Session<'_>) -> Result<(), Why> {
    let said = session.say("shell").await?;
    let file = format!("made-{}.txt", said.word);
    ask(session, &said).await?;
    session.interrupt().await?;
    let turn = session.finish(said).await?;
    if turn.result != TurnResult::Interrupted {
        return Err(format!("the turn ended as {:?}", turn.result));
    }
    if session.has(&file) {
        return Err("the command ran although nobody allowed it".to_owned());
    }
    session.works().await.map(|_| ())
}

/// A tool of the daemon.
pub(super) async fn host(session: &mut Session<'_>) -> Result<(), Why> {
    let turn = session.turn("post").await?;
    turn.completed()?;
    let call = session.calls.try_recv().map_err(|_| "the daemon's tool was not called")?;
    if call.turn != turn.said.turn {
        return Err(format!("it was called in {:?}", call.turn));
    }
    if call.id.is_empty() || call.name != "send" || call.input["text"] != turn.said.word.as_str() {
        return Err(format!("it was called as {call:?}"));
    }
    turn.said_text(&format!("posted {}", turn.said.word))
}

/// A tool of the daemon that refuses.
pub(super) async fn host_refuses(session: &mut Session<'_>) -> Result<(), Why> {
    let said = session.say_with("post", REFUSED).await?;
    let turn = session.finish(said).await?;
    turn.completed()?;
    session.calls.try_recv().map_err(|_| "the daemon's tool was not called")?;
    turn.said_text(REFUSAL)
}

/// A tool of the MCP server that the session was offered.
pub(super) async fn server(
    session: &mut Session<'_>,
    card: &Card<'_>,
    cell: &'static str,
) -> Result<(), Why> {
    let probe = session.plan.servers.of(session.subject);
    let Some(probe) = probe else {
        card.note(cell, Score::Skipped("no such server was given".to_owned()));
        return Ok(());
    };
    let name = session.subject.dialect.mcp_tool.replace("{key}", &probe.server.key);
    let name = name.replace("{tool}", &probe.tool);
    let said = session.say_with("mcp", &format!("{name} ")).await?;
    let turn = session.finish(said).await?;
    turn.completed()?;
    let answered = turn.events.iter().any(|event| {
        matches!(
            event,
            RuntimeEvent::ToolResult { is_error: false, content, .. }
                if content.contains(&turn.said.word)
        )
    });
    // Of a screen there is only what the model made of the result, which it was given nowhere else.
    match answered || !session.open.can.structured {
        true => turn.said_text(&turn.said.word),
        false => Err(format!("no result of the server's tool: {:?}", turn.text())),
    }
}

/// A command that the mode forbids: nobody is asked, it does not run.
pub(super) async fn forbidden(session: &mut Session<'_>) -> Result<(), Why> {
    let turn = session.turn("shell").await?;
    if !turn.asked.is_empty() {
        return Err("somebody was asked".to_owned());
    }
    if session.has(&format!("made-{}.txt", turn.said.word)) {
        return Err("the command ran".to_owned());
    }
    let tried = turn.events.iter().any(|event| match event {
        RuntimeEvent::ToolResult { .. } => true,
        RuntimeEvent::Message { message, .. } => {
            message.content.iter().any(|block| matches!(block, Block::ToolUse { .. }))
        }
        _ => false,
    });
    match (tried, turn.result) {
        (true, TurnResult::Completed | TurnResult::Interrupted) => Ok(()),
        (false, _) => Err("the call was not told".to_owned()),
        (true, other) => Err(format!("the turn ended as {other:?}")),
    }
}

/// A command that runs without a question.
pub(super) async fn unasked(session: &mut Session<'_>) -> Result<(), Why> {
    let turn = session.turn("shell").await?;
    if !turn.asked.is_empty() {
        return Err("somebody was asked".to_owned());
    }
    turn.completed()?;
    session.file(&format!("made-{}.txt", turn.said.word)).await?;
    turn.said_text(&format!("output-{}", turn.said.word))
}
