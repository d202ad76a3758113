//! What the provider refuses, and what stands on a list, in a session of their own.

use std::time::Duration;

use super::{
    card::Card,
    plan::{Fields, Initial, Listed, Plan, Servers},
    session::Session,
    stage::{Stage, Try},
    tools,
    turn::Why,
};
use crate::{Answer, FailureKind, PermissionMode, TurnResult};

/// What is known to be hidden is not waited for any longer: only whether it is told at once.
const HIDDEN_WITHIN: Duration = Duration::from_secs(8);

/// The stage; see the module. The context is filled last, since some programs cannot do with a
/// full one any more.
pub(super) const STAGE: Stage = Stage {
    plan: Plan {
        tag: "dee",
        permissions: PermissionMode::Allowlist,
        shell: Listed::Yes,
        initial: Initial::None,
        fields: Fields::Known,
        servers: Servers::None,
    },
    steps: &[
        Try { cells: &["allowed_tools"], step: |session, _| Box::pin(tools::unasked(session)) },
        Try {
            cells: &["error_500"],
            step: |session, _| Box::pin(refused(session, "error_500", "fail500", provider)),
        },
        Try {
            cells: &["error_529"],
            step: |session, _| Box::pin(refused(session, "error_529", "fail529", provider)),
        },
        Try {
            cells: &["error_429"],
            step: |session, _| Box::pin(refused(session, "error_429", "fail429", limited)),
        },
        Try {
            cells: &["error_401", "after_error"],
            step: |session, card| Box::pin(and_after(session, card)),
        },
        Try { cells: &["overflow"], step: |session, _| Box::pin(full(session)) },
    ],
};

async fn and_after(session: &mut Session<'_>, card: &Card<'_>) -> Result<(), Why> {
    let since = card.now();
    let told = refused(session, "error_401", "fail401", login).await;
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
    let patience = session.subject.dialect.pace.retries;
    let turn = session.finish_with(said, &Answer::Allow, patience).await?;
    match &turn.result {
        TurnResult::Failed { kind: FailureKind::ContextOverflow, .. } => Ok(()),
        TurnResult::Completed if !turn.text().trim().is_empty() => Ok(()),
        other => Err(format!("the turn ended as {other:?}")),
    }
}

/// A prompt that the provider always refuses.
async fn refused(
    session: &mut Session<'_>,
    cell: &str,
    verb: &str,
    right: fn(&TurnResult) -> bool,
) -> Result<(), Why> {
    let said = session.say(verb).await?;
    let known = session.subject.dialect.known.iter().any(|(id, _)| *id == cell);
    let patience = if known { HIDDEN_WITHIN } else { session.subject.dialect.pace.retries };
    let turn = session.finish_with(said, &Answer::Allow, patience).await?;
    match right(&turn.result) {
        true => Ok(()),
        false => Err(format!("the turn ended as {:?}", turn.result)),
    }
}
