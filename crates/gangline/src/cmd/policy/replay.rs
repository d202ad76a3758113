//! `gangline policy test`: what other rules would have decided. `gangline policy suggest`: rules that are
//! worth making. Both read the approvals that the store has, and change nothing.

use std::{path::Path, time::Duration};

use gangline_agent::rules::{no_longer_holds, offer_today};
use gangline_api::policy::{PolicyChange, PolicyTest, SuggestedRule};
use gangline_core::{
    AgentName, ApprovalNumber,
    approval::{ApprovalState, Decision},
    rule::{
        Offer, Rule,
        replay::{self, Change, Was},
        suggest::{Call, suggest},
    },
};
use gangline_os::clock::{self, UnixMicros, rfc3339};
use gangline_store::{ApprovalRow, Store};

use super::rule_file::{self, FileRule};
use crate::{cli::Global, failure::Failure, output, show};

/// A call that was asked about or ran by a rule, and what rules it would make.
pub(super) struct Recorded {
    row: ApprovalRow,
    offer: Option<Offer>,
}

/// Replays recorded calls against the rules of a file, or the present ones. Returns the exit code: 1 if
/// what a person refused would run.
pub(super) async fn test(
    global: &Global,
    store: &Store,
    (file, agent, since): (Option<&Path>, Option<&AgentName>, Duration),
) -> Result<u8, Failure> {
    let rules = match file {
        Some(file) => rule_file::read(file)?,
        None => present(store, agent).await?,
    };
    let since = ago(since);
    let calls = recorded(store, agent, since).await?;
    let since_at = rfc3339(since);
    let mut found =
        PolicyTest { since_at, calls: calls.len(), changes: Vec::new(), unasked: Vec::new() };
    for Recorded { row, offer } in &calls {
        let Some(offer) = offer else { continue };
        let theirs = rules.iter().filter(|it| it.agent.as_ref().is_none_or(|it| *it == row.agent));
        let theirs: Vec<Rule> = theirs.map(|it| it.rule.clone()).collect();
        if let Some(change) = replay::change(was(row), offer, &theirs) {
            found.changes.push(changed(row, offer, change));
        }
        if let (None, Some(numbers)) = (file, offer.allowed_by(&theirs)) {
            found.unasked.push(changed(row, offer, Change::Runs(numbers)));
        }
    }
    let refused = found.changes.iter().any(|it| it.was == "denied" && it.would == "run");
    match global.json {
        true => output::json(&found)?,
        false => output::print(&show::policy::tested(&found))?,
    }
    Ok(u8::from(refused))
}

/// Shows rules that are worth making.
pub(super) async fn suggest_rules(
    global: &Global,
    store: &Store,
    (agent, since, least): (Option<&AgentName>, Duration, usize),
) -> Result<(), Failure> {
    let since = ago(since);
    let recorded = recorded(store, agent, since).await?;
    let calls = recorded.iter().filter_map(|it| {
        let (offer, was) = (it.offer.as_ref()?, was(&it.row));
        Some(Call { agent: &it.row.agent, offer, was })
    });
    let calls: Vec<_> = calls.collect();
    let stored = store.rules(agent).await?;
    let live = stored.iter().filter(|row| row.void.is_none());
    let rules: Vec<_> = live.map(|row| (&row.agent, row.rule.clone())).collect();
    let worth: Vec<SuggestedRule> = suggest(&calls, &rules, least)
        .into_iter()
        .map(|it| {
            let (command, file, arguments) = super::parts(it.form);
            let (tool, directory) = (it.tool.to_owned(), it.directory.to_owned());
            let rule = Rule { number: 0, tool, directory, form: it.form.clone() };
            SuggestedRule {
                agent: it.agent.clone(),
                tool: rule.tool.clone(),
                directory: rule.directory.clone(),
                command,
                file,
                arguments,
                allows: rule.to_string(),
                allowed: it.allowed,
            }
        })
        .collect();
    match global.json {
        true => output::json(&worth),
        false => output::print(&show::policy::suggested(&worth)),
    }
}

/// Returns the stored rules that allow something.
async fn present(store: &Store, agent: Option<&AgentName>) -> Result<Vec<FileRule>, Failure> {
    let rows = store.rules(agent).await?.into_iter();
    let holds = rows.filter(|row| row.void.is_none() && no_longer_holds(&row.rule).is_none());
    Ok(holds.map(|row| FileRule { agent: Some(row.agent), rule: row.rule }).collect())
}

/// Returns the time that is so long ago.
fn ago(since: Duration) -> UnixMicros {
    let micros = i64::try_from(since.as_micros()).unwrap_or(i64::MAX);
    UnixMicros(clock::system().now().0.saturating_sub(micros))
}

/// Returns the calls since a time, oldest first.
async fn recorded(
    store: &Store,
    agent: Option<&AgentName>,
    since: UnixMicros,
) -> Result<Vec<Recorded>, Failure> {
    let mut all = Vec::new();
    let mut before: Option<ApprovalNumber> = None;
    loop {
        let page = store.asked_since(agent, since, before).await?;
        before = page.last().map(|(row, _)| row.number);
        let full = page.len() == gangline_store::PAGE_MAX as usize;
        all.extend(page.into_iter().map(|(row, offer)| {
            // What an older program made of it is not what this one would.
            let today = |offer| offer_today((&row.tool, row.detail.as_str()), offer);
            Recorded { offer: offer.map(today), row }
        }));
        if !full {
            break;
        }
    }
    all.reverse();
    Ok(all)
}

fn was(row: &ApprovalRow) -> Was {
    match (row.state, row.decision) {
        (ApprovalState::Allowed, _) if row.is_by_rules() => Was::Ruled,
        (ApprovalState::Allowed, _) => Was::Allowed,
        (ApprovalState::Denied, _) => Was::Denied,
        (_, Some(Decision::Deny)) => Was::Denied,
        (_, Some(Decision::Allow) | None) => Was::Undecided,
    }
}

fn changed(row: &ApprovalRow, offer: &Offer, change: Change) -> PolicyChange {
    let was = match was(row) {
        Was::Allowed => "allowed",
        Was::Denied => "denied",
        Was::Ruled => "allowed_by_rule",
        Was::Undecided => "undecided",
    };
    let (would, rules) = match change {
        Change::Runs(numbers) => ("run", numbers),
        Change::Asks => ("ask", Vec::new()),
    };
    PolicyChange {
        approval: row.number,
        agent: row.agent.clone(),
        call: offer.describe(),
        asked_at: rfc3339(row.opened_at),
        was: was.to_owned(),
        would: would.to_owned(),
        rules,
    }
}
