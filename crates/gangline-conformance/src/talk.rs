//! A long session under `ask`: prompts, interrupts, approvals, tools, care of the context, stop.

use gangline_os::proc;

use super::{
    Score,
    card::Card,
    plan::{Fields, Initial, Listed, Plan, Servers},
    reading,
    script::OUTPUT_TOKENS,
    session::Session,
    stage::{Stage, Try},
    tools,
    turn::{Turn, Why},
};
use gangline_runtime::{
    Block, Command, Permissions, Refusal, RuntimeEvent, SessionFilter, TurnResult,
};

/// The stage; see the module.
pub(super) const STAGE: Stage = Stage {
    plan: Plan {
        tag: "ada",
        permissions: Permissions::Ask,
        shell: Listed::No,
        initial: Initial::Given,
        fields: Fields::Known,
        servers: Servers::Stdio,
    },
    steps: &[
        Try {
            cells: &["starts", "session_id", "handle", "first_prompt", "accepted", "apart"],
            step: |session, card| Box::pin(first(session, card)),
        },
        Try {
            cells: &["answers", "usage", "window"],
            step: |session, card| Box::pin(answers(session, card)),
        },
        Try { cells: &["thinking"], step: |session, card| Box::pin(thinking(session, card)) },
        Try { cells: &["order"], step: |session, _| Box::pin(order(session)) },
        Try {
            cells: &["prompt_returns", "busy", "interrupt", "goes_on"],
            step: |session, card| Box::pin(held(session, card)),
        },
        Try { cells: &["interrupt_idle"], step: |session, _| Box::pin(idle(session)) },
        Try {
            cells: &["ask_allow"],
            step: |session, card| Box::pin(tools::allowed(session, card)),
        },
        // Where nothing can be asked.
        Try { cells: &["tool_call"], step: |session, _| Box::pin(tools::called(session)) },
        Try {
            cells: &["ask_deny", "deny_told"],
            step: |session, card| Box::pin(tools::denied(session, card)),
        },
        Try { cells: &["ask_interrupt"], step: |session, _| Box::pin(tools::interrupted(session)) },
        Try {
            cells: &["reads_outside"],
            step: |session, card| Box::pin(reading::outside(session, card)),
        },
        Try {
            cells: &["reads_closed"],
            step: |session, card| Box::pin(reading::closed(session, card)),
        },
        Try { cells: &["host_tool"], step: |session, _| Box::pin(tools::host(session)) },
        Try {
            cells: &["host_tool_refused"],
            step: |session, _| Box::pin(tools::host_refuses(session)),
        },
        Try {
            cells: &["mcp_stdio"],
            step: |session, card| Box::pin(tools::server(session, card, "mcp_stdio")),
        },
        Try { cells: &["set_model"], step: |session, _| Box::pin(set_model(session)) },
        Try { cells: &["list_sessions"], step: |session, _| Box::pin(list(session)) },
        Try { cells: &["compact"], step: |session, _| Box::pin(compact(session)) },
        Try { cells: &["clear"], step: |session, _| Box::pin(clear(session)) },
        Try {
            cells: &["detect_running", "stop"],
            step: |session, card| Box::pin(stop(session, card)),
        },
    ],
};

/// The start, and the prompt that came with it.
async fn first(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let since = card.now();
    let ready = session.until_ready().await;
    card.judge("starts", &ready, since);
    ready?;
    card.judge("session_id", &session_id(session), since);
    card.judge("handle", &handle(session), since);
    first_prompt(session, card).await
}

fn session_id(session: &Session<'_>) -> Result<(), Why> {
    let ready = session.ready.clone().ok_or("Ready told no id")?;
    if ready.0.is_empty() {
        return Err("the id is empty".to_owned());
    }
    match session.handle() {
        handle if handle.session.as_ref() == Some(&ready) => Ok(()),
        other => Err(format!("Ready said {ready}, but the handle is {other:?}")),
    }
}

fn handle(session: &Session<'_>) -> Result<(), Why> {
    let handle = session.handle();
    if handle.workdir != session.options.workdir {
        return Err(format!("its folder is {}", handle.workdir.display()));
    }
    match handle.ready_at {
        None => return Err("it does not say since when it is ready".to_owned()),
        Some(ready) if ready < handle.started_at => {
            return Err("it was ready before it was started".to_owned());
        }
        Some(_) => {}
    }
    match (handle.pid, handle.pid_start) {
        (None, _) => Ok(()),
        (Some(pid), Some(start)) if proc::alive(pid, start) => Ok(()),
        (Some(pid), start) => Err(format!("no process {pid} that began at {start:?} runs")),
    }
}

async fn first_prompt(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let since = card.now();
    let said = session.initial.clone().ok_or("no prompt was given")?;
    let turn = session.finish(said).await?;
    turn.completed()?;
    let accepted = turn.events.iter().any(|event| matches!(event, RuntimeEvent::Accepted { .. }))
        || session.told.iter().any(
            |event| matches!(event, RuntimeEvent::Accepted { turn: of } if *of == turn.said.turn),
        );
    let accepted = if accepted { Ok(()) } else { Err("no Accepted came".to_owned()) };
    card.judge("accepted", &accepted, since);
    turn.said_text(&format!("answer {}", turn.said.word))
}

async fn works(session: &mut Session<'_>) -> Result<(), Why> {
    session.works().await.map(|_| ())
}

async fn answers(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let since = card.now();
    let turn = session.works().await?;
    card.judge("usage", &counted(&turn), since);
    match session.told.iter().any(has_window) {
        true => card.judge("window", &Ok(()), since),
        false => card.note("window", Score::Hidden("nobody tells the window".to_owned())),
    }
    let mut models = turn.events.iter().filter_map(|event| match event {
        RuntimeEvent::Message { message, .. } => Some(message.model.as_str()),
        _ => None,
    });
    let structured = session.open.can.structured;
    match structured && models.any(str::is_empty) {
        true => Err("a message does not name its model".to_owned()),
        false => Ok(()),
    }
}

fn counted(turn: &Turn) -> Result<(), Why> {
    let told = turn.events.iter().filter_map(|event| match event {
        RuntimeEvent::Usage { usage, .. } => Some(usage.output_tokens),
        _ => None,
    });
    let told: Vec<u64> = told.collect();
    match told.iter().sum::<u64>() {
        OUTPUT_TOKENS => Ok(()),
        _ => Err(format!("the model wrote {OUTPUT_TOKENS} tokens, it told {told:?}")),
    }
}

fn has_window(event: &RuntimeEvent) -> bool {
    matches!(event, RuntimeEvent::Usage { usage, .. } if usage.context_window.is_some())
}

async fn thinking(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let turn = session.turn("think").await?;
    turn.completed()?;
    turn.said_text(&format!("thought {}", turn.said.word))?;
    let shown = turn.events.iter().any(|event| match event {
        RuntimeEvent::Message { message, .. } => message
            .content
            .iter()
            .any(|block| matches!(block, Block::Thinking { thinking } if !thinking.is_empty())),
        _ => false,
    });
    if !shown {
        card.note("thinking", Score::Hidden("no reasoning of the model is told".to_owned()));
    }
    Ok(())
}

async fn order(session: &mut Session<'_>) -> Result<(), Why> {
    for _ in 0..3 {
        session.works().await?;
    }
    Ok(())
}

/// One turn whose model does not answer: what may be done meanwhile, and its end.
async fn held(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let since = card.now();
    let said = session.say("wait").await?;
    session.request_with(&said.word).await?;
    // What is asked while the model is silent is taken all the same.
    let second = session.try_to_say("say").await;
    card.judge("prompt_returns", &second.as_ref().map(drop).map_err(Why::clone), since);
    let refused = match second? {
        Some(Refusal::Busy { .. }) => Ok(()),
        other => Err(format!("a second prompt is answered with {other:?}")),
    };
    card.judge("busy", &refused, since);
    refused?;
    let since = card.now();
    session.interrupt().await?;
    let turn = session.finish(said).await?;
    let interrupted = match turn.result {
        TurnResult::Interrupted => Ok(()),
        other => Err(format!("the turn ended as {other:?}")),
    };
    card.judge("interrupt", &interrupted, since);
    works(session).await
}

async fn idle(session: &mut Session<'_>) -> Result<(), Why> {
    session.interrupt().await?;
    works(session).await
}

async fn set_model(session: &mut Session<'_>) -> Result<(), Why> {
    let other = session.subject.dialect.other_model;
    session.ask(Command::SetModel(other.to_owned())).await?;
    let turn = session.works().await?;
    let back = session.subject.dialect.model;
    session.ask(Command::SetModel(back.to_owned())).await?;
    // Where a provider stands in front of the name, the model itself is not asked by it.
    let name = other.rsplit('/').next().unwrap_or(other);
    // It stands in the request's body, or in its path.
    let forms = [format!("\"{name}\""), format!("/{name}:")];
    let model = &session.subject.model;
    match forms.iter().any(|form| model.newest_with(&[&turn.said.word, form]).is_some()) {
        true => Ok(()),
        false => Err(format!("the model was not asked as {other}")),
    }
}

async fn list(session: &mut Session<'_>) -> Result<(), Why> {
    let filter = SessionFilter { workdir: Some(session.options.workdir.clone()), limit: 50 };
    let elsewhere = SessionFilter { workdir: Some("/no/such/folder".into()), limit: 50 };
    let patience = session.subject.dialect.pace.ready;
    let listing = async {
        let all = session.runtime.list_sessions(&session.options, &filter);
        let none = session.runtime.list_sessions(&session.options, &elsewhere);
        tokio::join!(all, none)
    };
    let (listed, others) = tokio::time::timeout(patience, listing)
        .await
        .map_err(|_| format!("no list within {patience:?}"))?;
    let listed = listed.map_err(|error| error.to_string())?;
    let ours = session.handle().session;
    if !listed.iter().any(|handle| handle.session == ours) {
        return Err(format!("{ours:?} is not among {} sessions", listed.len()));
    }
    match others {
        Ok(none) if none.is_empty() => Ok(()),
        Ok(some) => Err(format!("{} sessions are listed for another folder", some.len())),
        Err(error) => Err(error.to_string()),
    }
}

async fn compact(session: &mut Session<'_>) -> Result<(), Why> {
    session.ask(Command::Compact).await?;
    let patience = session.subject.dialect.pace.turn;
    let seen = session
        .until(patience, "end of the compaction", |event| {
            matches!(event, RuntimeEvent::Compacted { .. } | RuntimeEvent::Exited { .. })
        })
        .await?;
    match seen.last() {
        Some(RuntimeEvent::Compacted { failed: None }) => {}
        other => return Err(format!("it ended as {other:?}")),
    }
    works(session).await
}

async fn clear(session: &mut Session<'_>) -> Result<(), Why> {
    let before = session.works().await?;
    session.ask(Command::Clear).await?;
    let after = session.works().await?;
    let request = session.request_with(&after.said.word).await?;
    match request.contains(&before.said.word) {
        true => Err("the model is still sent what was said before".to_owned()),
        false => Ok(()),
    }
}

async fn stop(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let since = card.now();
    let running = session.open.runs();
    let code = session.stop().await?;
    let detected = match (running, session.open.runs()) {
        (true, false) => Ok(()),
        (false, _) => Err("it does not see a session that runs".to_owned()),
        (true, true) => Err("it sees a session that was stopped".to_owned()),
    };
    card.judge("detect_running", &detected, since);
    if code != 0 {
        return Err(format!("it exited with {code}"));
    }
    session.nothing_left().await
}
