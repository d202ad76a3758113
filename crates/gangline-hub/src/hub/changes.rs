//! Changes of the installation that an owner has allowed: applied, waited for, and undone if the agent
//! does not come up (R2-35, R2-37).
//!
//! Where a change stands is in its row, each step is one commit there, and each step can be repeated:
//! a hub that is killed goes on where it was. One change is under way at a time. Start at
//! [`Watch::change`].

use gangline_config::{MAX_CONFIG_BYTES, append};
use gangline_core::{AgentName, Redactor};
use gangline_os::{
    change_notice,
    clock::UnixMicros,
    failpoint,
    git::{Authorship, GitError, ObjectId, Repository},
    paths::Paths,
};
use gangline_store::{
    AgentRow, ChangeKind, ChangeRow, ChangeState, ChangeStep, RestartWhen, Store, StoreError,
};
use tracing::{info, warn};

use super::{Listening, Plan, Refused, watch::Watch};
use crate::kept::{DRAIN_BUDGET, Standing, whole};

/// Why a step was not taken: a text for people.
struct Not(String);

impl From<GitError> for Not {
    fn from(error: GitError) -> Self {
        Self(whole(&error))
    }
}

/// What is to be done with a change now.
enum Next {
    Step(ChangeStep),
    /// Look again soon.
    Wait,
}

impl Watch<'_> {
    /// Goes on with the change that is under way, if there is one; returns whether there is.
    pub(super) async fn change(
        &mut self,
        plan: &mut impl FnMut(&Listening) -> Result<Plan, Refused>,
        rows: &[AgentRow],
    ) -> bool {
        let under_way = match self.store.changes_under_way().await {
            Ok(rows) => rows,
            Err(error) => {
                warn!(%error, "cannot read what was allowed");
                return false;
            }
        };
        let Some(change) = under_way.into_iter().next() else {
            self.trial = None;
            return false;
        };
        let next = match change.state {
            ChangeState::Approved => self.prepared(&change, rows).await,
            ChangeState::Applying => self.applied(&change, plan, rows).await,
            ChangeState::RollingBack => self.undone(&change, plan).await,
            ChangeState::Requested
            | ChangeState::Applied
            | ChangeState::RolledBack
            | ChangeState::Failed
            | ChangeState::Denied => return false,
        };
        let step = match next {
            Ok(Next::Step(step)) => step,
            Ok(Next::Wait) => return true,
            Err(Not(why)) => step(&change, ChangeState::Failed, &why),
        };
        if let Err(error) = take(&self.store, (&self.options.paths, &change), step).await {
            warn!(%error, number = %change.number, "cannot record a step of a change");
        }
        true
    }

    /// Finds out what is gone over to; changes nothing in the folder.
    async fn prepared(&self, change: &ChangeRow, rows: &[AgentRow]) -> Result<Next, Not> {
        let repository = Repository::around(&self.options.paths.config_file)?;
        let before = repository.head().await?;
        let unclean = repository.uncommitted().await?;
        if !unclean.is_empty() {
            return Err(Not(format!(
                "not applied: {} has uncommitted changes: commit them, then ask again",
                unclean.join(", ")
            )));
        }
        let commit = match change.kind {
            ChangeKind::Spawn => with_agent(&repository, &before, change).await?,
            ChangeKind::Config => {
                let commit = change.commit.as_deref().and_then(ObjectId::parse);
                let commit = commit.ok_or_else(|| Not("not applied: it names no commit".into()))?;
                if !repository.follows(&before, &commit).await? {
                    return Err(Not(format!(
                        "not applied: the configuration has gone on to {} since, and {} does not \
                         follow it: rebase the commit, then ask again",
                        before.short(),
                        commit.short()
                    )));
                }
                commit
            }
        };
        let epoch = rows.iter().find(|row| row.agent == change.subject).map(|row| row.epoch.0);
        Ok(Next::Step(ChangeStep {
            commit: Some(commit.as_str().to_owned()),
            before: Some(before.as_str().to_owned()),
            epoch,
            outcome: None,
            ..bare(change, ChangeState::Applying)
        }))
    }

    /// Goes over to the commit, then waits for the agent.
    async fn applied(
        &mut self,
        change: &ChangeRow,
        plan: &mut impl FnMut(&Listening) -> Result<Plan, Refused>,
        rows: &[AgentRow],
    ) -> Result<Next, Not> {
        failpoint::hit("change.applying");
        let repository = Repository::around(&self.options.paths.config_file)?;
        let (before, commit) = ids(change)?;
        let head = repository.head().await?;
        if head == before && before != commit {
            let forward = repository.forward(&before, &commit).await;
            forward.map_err(|error| Not(format!("not applied: {}", whole(&error))))?;
            failpoint::hit("change.checked_out");
        }
        if self.trial.is_none_or(|(number, _)| number != change.number) {
            if let Err(Refused(why)) = self.taken(plan).await {
                let why = why.trim();
                return Ok(Next::Step(step(change, ChangeState::RollingBack, why)));
            }
            self.restarted(change).await.map_err(|error| Not(whole(&error)))?;
            self.trial = Some((change.number, self.options.clock.now()));
            return Ok(Next::Wait);
        }
        Ok(self.is_up(change, rows).map_or(Next::Wait, Next::Step))
    }

    /// Orders the daemon's restart, once; a new agent is started without an order.
    async fn restarted(&mut self, change: &ChangeRow) -> Result<(), StoreError> {
        let known = self.reconciler.known().find(|it| it.agent == Some(&change.subject));
        let runs = known.is_some_and(|known| known.wanted);
        let since = change.applying_at.unwrap_or(UnixMicros(0));
        let orders = self.store.orders().await?;
        let order = orders.iter().find(|order| order.agent == change.subject);
        let ordered = order.and_then(|order| order.restart.as_ref());
        if change.kind == ChangeKind::Config && runs && ordered.is_none_or(|it| it.at < since) {
            let by = format!("approval {}", change.number);
            self.store.order_restart(&change.subject, RestartWhen::Immediately, &by).await?;
        }
        Ok(())
    }

    /// Returns what follows from how the agent does; nothing while it still may come up.
    fn is_up(&mut self, change: &ChangeRow, rows: &[AgentRow]) -> Option<ChangeStep> {
        let agent = &change.subject;
        let done = |text: String| Some(step(change, ChangeState::Applied, &text));
        let undo = |text: String| Some(step(change, ChangeState::RollingBack, &text));
        let known = self.reconciler.known().find(|known| known.agent == Some(agent));
        let Some((standing, wanted)) = known.map(|known| (known.standing, known.wanted)) else {
            return done(format!("applied; {agent} is not among the agents that are to run"));
        };
        if !wanted {
            return done(format!(
                "applied; {agent} is stopped, and will use it when it is started"
            ));
        }
        let row = rows.iter().find(|row| row.agent == *agent);
        let is_new = row.is_some_and(|row| row.epoch.0 > change.epoch);
        let now = self.options.clock.now();
        let old_runs = match standing {
            Standing::Up { pid } => {
                let is_it = row.is_some_and(|row| pid.map(i64::from) == Some(row.pid));
                if is_new && is_it && row.is_some_and(|row| row.ready_at.is_some()) {
                    return done(format!("applied; {agent} is up"));
                }
                !is_new
            }
            Standing::Stopping => !is_new,
            Standing::GivenUp { code } => {
                return undo(format!("{agent} could not start: exit code {code}"));
            }
            Standing::Starting | Standing::Waiting | Standing::Stopped => false,
        };
        let begun = change.applying_at.unwrap_or(now);
        // The turn of the old one may finish.
        if old_runs && now.since(begun) < DRAIN_BUDGET {
            self.trial = Some((change.number, now));
            return None;
        }
        let since = self.trial.map_or(begun, |(_, since)| since);
        let within = self.options.up_within;
        (now.since(since) > within)
            .then(|| undo(format!("{agent} was not up in {} s", within.as_secs())))
            .flatten()
    }

    /// Goes back to the files from before, by a commit of its own.
    async fn undone(
        &mut self,
        change: &ChangeRow,
        plan: &mut impl FnMut(&Listening) -> Result<Plan, Refused>,
    ) -> Result<Next, Not> {
        failpoint::hit("change.rolling_back");
        undo(&self.options.paths, change).await?;
        failpoint::hit("change.undone");
        let taken = self.taken(plan).await;
        if let Err(Refused(why)) = taken {
            return Err(Not(format!("undone, but the earlier configuration is refused: {why}")));
        }
        let known = self.reconciler.known().find(|it| it.agent == Some(&change.subject));
        if known.is_some_and(|known| known.wanted) && change.kind == ChangeKind::Config {
            let by = format!("approval {}", change.number);
            let order = self.store.order_restart(&change.subject, RestartWhen::Immediately, &by);
            order.await.map_err(|error| Not(whole(&error)))?;
        }
        self.trial = None;
        Ok(Next::Step(rolled_back(change)))
    }
}

/// Undoes the change that is being applied, if there is one: the configuration was refused before this
/// hub could begin. Returns whether it did.
pub(super) async fn undo_refused(store: &Store, paths: &Paths, why: &Refused) -> bool {
    let under_way = store.changes_under_way().await.unwrap_or_default();
    let is_half_done = |change: &&ChangeRow| {
        matches!(change.state, ChangeState::Applying | ChangeState::RollingBack)
    };
    let Some(change) = under_way.iter().find(is_half_done) else { return false };
    if let Err(Not(error)) = undo(paths, change).await {
        warn!(error, number = %change.number, "a change that is refused cannot be undone");
        return false;
    }
    let told = ChangeRow {
        outcome: change.outcome.clone().or_else(|| Some(Redactor::new([]).redact(why.0.trim()))),
        ..change.clone()
    };
    let done = take(store, (paths, change), rolled_back(&told)).await;
    done.is_ok()
}

/// Goes back to the files from before a change. Repeated, it changes nothing.
async fn undo(paths: &Paths, change: &ChangeRow) -> Result<(), Not> {
    let repository = Repository::around(&paths.config_file)?;
    let (before, commit) = ids(change)?;
    let head = repository.head().await?;
    if repository.is_same(&head, &before).await? {
        return Ok(());
    }
    if head != commit {
        return Err(Not(format!(
            "not undone: somebody has committed {} since; look at it, and start {} yourself",
            head.short(),
            change.subject
        )));
    }
    let message = format!("Undo {} (approval {})", change.summary, change.number);
    let by = Authorship { author: "gangline", message: &message };
    let back = repository.with_files_of(&before, &head, by).await?;
    let forward = repository.forward(&head, &back).await;
    forward.map_err(|error| Not(format!("not undone: {}", whole(&error))))
}

/// Makes the commit that adds the agent of a spawn.
async fn with_agent(
    repository: &Repository,
    before: &ObjectId,
    change: &ChangeRow,
) -> Result<ObjectId, Not> {
    let text = repository.file_at(before, MAX_CONFIG_BYTES as u64).await?;
    let text =
        text.ok_or_else(|| Not("not applied: git does not keep the configuration".into()))?;
    let lines: Vec<String> =
        change.entry.as_deref().unwrap_or_default().lines().map(str::to_owned).collect();
    let text = append::with_agent(&text, &lines);
    let text = text.map_err(|error| Not(format!("not applied: {}", whole(&error))))?;
    let message = format!("Add {} (approval {})", change.subject, change.number);
    let by = Authorship { author: change.agent.as_str(), message: &message };
    Ok(repository.with_file(before, &text, by).await?)
}

/// Returns the commits before and after a change.
fn ids(change: &ChangeRow) -> Result<(ObjectId, ObjectId), Not> {
    let id = |id: &Option<String>| id.as_deref().and_then(ObjectId::parse);
    let both = id(&change.before).zip(id(&change.commit));
    both.ok_or_else(|| Not("its row names no commits".to_owned()))
}

fn bare(change: &ChangeRow, to: ChangeState) -> ChangeStep {
    ChangeStep { from: change.state, to, commit: None, before: None, epoch: None, outcome: None }
}

fn step(change: &ChangeRow, to: ChangeState, outcome: &str) -> ChangeStep {
    ChangeStep { outcome: Some(Redactor::new([]).redact(outcome)), ..bare(change, to) }
}

fn rolled_back(change: &ChangeRow) -> ChangeStep {
    let why = change.outcome.as_ref().map_or("it was refused", |why| why.as_str());
    let text = format!("rolled back: {why}; the configuration is as it was before");
    step(change, ChangeState::RolledBack, &text)
}

async fn take(
    store: &Store,
    (paths, change): (&Paths, &ChangeRow),
    step: ChangeStep,
) -> Result<(), StoreError> {
    let (number, to) = (change.number, step.to);
    let outcome = step.outcome.clone();
    if store.step_change(number, step).await? {
        info!(%number, state = %to, outcome = outcome.as_ref().map_or("", |it| it.as_str()), "a change goes on");
        failpoint::hit("change.step");
        if to.is_final() {
            notify(paths, &change.agent);
        }
    }
    Ok(())
}

fn notify(paths: &Paths, agent: &AgentName) {
    change_notice::notify(&paths.change_notice(agent.folded()));
}

#[cfg(test)]
mod tests;
