//! What the provider refuses, and what stands on a list: a session for these, a part of another.

use std::time::Duration;

use super::{
    card::Card,
    plan::{Fields, Initial, Listed, Plan, Servers},
    script::RETRY_AFTER,
    session::Session,
    stage::{Stage, Try},
    tools,
    turn::Why,
};
use gangline_runtime::{FailureKind, Permissions, TurnResult, registry::dialect::How};

/// What is known to say nothing is waited for this long after the model has refused: longer than
/// what does tell it takes.
const SILENCE: Duration = Duration::from_secs(4);
/// What a clock, a look and a connection may make of a pause.
const BLUR: Duration = Duration::from_millis(500);

/// The stage; see the module. The context is filled last, since some programs cannot do with a
/// full one any more.
pub(super) const STAGE: Stage = Stage {
    plan: Plan {
        tag: "dee",
        permissions: Permissions::Allowlist,
        shell: Listed::Yes,
        initial: Initial::None,
        fields: Fields::Known,
        servers: Servers::None,
    },
    steps: &[
        Try { cells: &["allowed_tools"], step: |session, _| Box::pin(tools::unasked(session)) },
        Try {
            cells: &["error_529"],
            step: |session, card| Box::pin(refused(session, card, &OVERLOADED)),
        },
        Try {
            cells: &["error_429"],
            step: |session, card| Box::pin(refused(session, card, &LIMITED)),
        },
        Try { cells: &["retry_after"], step: |session, card| Box::pin(retry_after(session, card)) },
        Try {
            cells: &["error_401", "after_error"],
            step: |session, card| Box::pin(and_after(session, card)),
        },
        Try { cells: &["overflow"], step: |session, _| Box::pin(full(session)) },
    ],
};

/// What the provider refuses with, and how that has to be told.
pub(super) struct Refusal {
    cell: &'static str,
    verb: &'static str,
    right: fn(&TurnResult) -> bool,
}

/// It is broken. Not in the stage above: this takes some programs long, and others have the time.
pub(super) const BROKEN: Refusal = Refusal { cell: "error_500", verb: "fail500", right: provider };
const OVERLOADED: Refusal = Refusal { cell: "error_529", verb: "fail529", right: provider };
const LIMITED: Refusal = Refusal { cell: "error_429", verb: "fail429", right: limited };
const LOGIN: Refusal = Refusal { cell: "error_401", verb: "fail401", right: login };

async fn and_after(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let since = card.now();
    let told = refused(session, card, &LOGIN).await;
    card.judge("error_401", &told, since);
    session.works().await.map(|_| ())
}

fn provider(result: &TurnResult) -> bool {
    matches!(result, TurnResult::Failed { kind: FailureKind::Provider, .. })
}

fn limited(result: &TurnResult) -> bool {
    matches!(result, TurnResult::RateLimited { .. })
}

fn login(result: &TurnResult) -> bool {
    matches!(
        result,
        TurnResult::NeedsLogin { .. } | TurnResult::Failed { kind: FailureKind::Auth, .. }
    )
}

/// A prompt that is too long: told as that, or answered after the program has shortened the context
/// by itself. The model answers it in no other way.
async fn full(session: &mut Session<'_>) -> Result<(), Why> {
    let said = session.say("overflow").await?;
    let turn = session.finish_after_retries(said).await?;
    match &turn.result {
        TurnResult::Failed { kind: FailureKind::ContextOverflow, .. } => Ok(()),
        TurnResult::Completed if !turn.text().trim().is_empty() => Ok(()),
        other => Err(format!("the turn ended as {other:?}")),
    }
}

/// A prompt that the provider always refuses.
pub(super) async fn refused(
    session: &mut Session<'_>,
    card: &Card<'_>,
    refusal: &Refusal,
) -> Result<(), Why> {
    let since = card.now();
    let said = session.say(refusal.verb).await?;
    session.request_with(&said.word).await?;
    let silent = card.known(refusal.cell).filter(|known| known.how == How::Silent);
    let finished = session.finish_after_retries(said);
    let turn = match silent {
        None => finished.await?,
        Some(known) => {
            let Ok(turn) = tokio::time::timeout(SILENCE, finished).await else {
                card.silent(known, SILENCE, since);
                return Ok(());
            };
            turn?
        }
    };
    match (refusal.right)(&turn.result) {
        true => Ok(()),
        false => Err(format!("the turn ended as {:?}", turn.result)),
    }
}

/// A provider that wants to be left alone for a while, and then answers.
async fn retry_after(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let said = session.say("later").await?;
    session.request_with(&said.word).await?;
    let since = card.now();
    let turn = session.finish_after_retries(said).await?;
    let waited = card.now().saturating_sub(since);
    match &turn.result {
        TurnResult::Completed if waited + BLUR < RETRY_AFTER => {
            Err(format!("it asked again after {waited:?}, not after {RETRY_AFTER:?}"))
        }
        TurnResult::Completed => turn.said_text(&format!("answer {}", turn.said.word)),
        TurnResult::RateLimited { retry_after: Some(seconds) } => {
            // Of a time that has run for a while already.
            match (1..=RETRY_AFTER.as_secs()).contains(seconds) {
                true => Ok(()),
                false => Err(format!("it says {seconds} s, not {RETRY_AFTER:?}")),
            }
        }
        TurnResult::RateLimited { retry_after: None } => {
            Err("it tells a rate limit, and not how long it lasts".to_owned())
        }
        other => Err(format!("the turn ended as {other:?}")),
    }
}
