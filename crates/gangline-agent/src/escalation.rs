//! An escalation that holds the agent is always one that people can see and answer.

use gangline_core::{
    finding::{Choice, ChoiceWord, FindingKind},
    pause::PauseReason,
};
use gangline_store::{
    FindingFilter, FindingRow, NewFinding, PAGE_MAX, PauseRow, Store, StoreError,
};
use tracing::warn;

use crate::{identity::Identity, texts::pauses as texts};

/// Looks at the escalation that the agent begins with. One without an open finding ends, if a person has
/// answered it since; otherwise its finding is raised anew, with what the pause tells of its cause.
pub(crate) async fn show(
    me: &Identity,
    store: &Store,
    pauses: &mut Vec<PauseRow>,
) -> Result<(), StoreError> {
    let is_it = |row: &PauseRow| row.reason == PauseReason::Escalation;
    let Some(pause) = pauses.iter().find(|row| is_it(row)) else { return Ok(()) };
    let filter = FindingFilter { agent: Some(me.agent.clone()), resolved: true };
    let found = store.findings(filter, PAGE_MAX).await?;
    let kind = |row: &&FindingRow| row.kind.known() == Some(FindingKind::Escalation);
    let newest = found.iter().find(kind);
    match newest {
        Some(row) if row.resolved_at.is_none() => Ok(()),
        Some(row) if row.choice.is_some() && row.raised_at >= pause.at => {
            warn!(number = %row.number, "an escalation was answered and held on: it ends");
            store.end_pause(&me.agent, PauseReason::Escalation, None).await?;
            pauses.retain(|row| !is_it(row));
            Ok(())
        }
        Some(_) | None => {
            warn!("an escalation holds the agent and nobody could see it: its finding is raised");
            store.raise_finding(finding(me, pause)).await.map(drop)
        }
    }
}

fn finding(me: &Identity, pause: &PauseRow) -> NewFinding {
    let cause = pause.note.clone().unwrap_or_else(|| me.redactor.redact(texts::ESCALATED_BEFORE));
    NewFinding {
        choices: choices(),
        recommended: Some(ChoiceWord::Resume),
        ..NewFinding::new(me.agent.clone(), FindingKind::Escalation, cause)
    }
}

/// Returns what a person may choose for an escalation.
pub(crate) fn choices() -> Vec<Choice> {
    vec![
        Choice::new(ChoiceWord::Resume, "it continues, and what waits is answered"),
        Choice::new(ChoiceWord::Abort, "its open turn ends first"),
    ]
}
