//! A session and the steps that are tried in it; a session that a step broke is begun again.

use std::pin::Pin;

use super::{
    card::Card,
    plan::{Initial, Plan},
    session::Session,
    turn::Why,
};

/// How often a stage begins again after a step that broke its session.
const AGAIN: u32 = 2;

/// What a step is.
pub(super) type Step<'a> = Pin<Box<dyn Future<Output = Result<(), Why>> + Send + 'a>>;

/// Something that is tried in a session.
pub(super) struct Try {
    /// What is not noted by the step itself fails with its error, or holds without one.
    pub(super) cells: &'static [&'static str],
    pub(super) step: for<'a, 'b> fn(&'a mut Session<'b>, &'a Card<'b>) -> Step<'a>,
}

/// A session and what is tried in it, in order.
pub(super) struct Stage {
    pub(super) plan: Plan,
    pub(super) steps: &'static [Try],
}

/// Plays a stage and ends its session.
pub(super) async fn play(stage: &Stage, card: &Card<'_>) {
    let cells = stage.steps.iter().flat_map(|step| step.cells);
    if !cells.clone().any(|id| card.wants(id)) {
        return;
    }
    let since = card.now();
    // A prompt that comes with the start is for the first step.
    let first = stage.steps.iter().take(1).flat_map(|step| step.cells);
    let plan = match first.clone().any(|id| card.wants(id)) {
        true => stage.plan.clone(),
        false => Plan { initial: Initial::None, ..stage.plan.clone() },
    };
    card.trying(stage.steps.first().map_or(&[], |step| step.cells));
    match Session::begin(card, &plan, None).await {
        Ok(begun) => {
            let session = go_through(stage.steps, begun, card).await;
            end(session, card).await;
        }
        Err(why) => {
            let tried = Err(format!("no session: {why}"));
            cells.for_each(|id| card.judge(id, &tried, since));
        }
    }
}

/// Tries each step; notes each of their cells, whatever happens. Returns the session, if one is
/// left.
pub(super) async fn go_through<'a>(
    steps: &[Try],
    session: Session<'a>,
    card: &Card<'a>,
) -> Option<Session<'a>> {
    let plan = Plan { initial: Initial::None, ..session.plan.clone() };
    let mut session = Some(session);
    let mut left = AGAIN;
    for (at, step) in steps.iter().enumerate() {
        if !step.cells.iter().any(|id| card.wants(id)) {
            continue;
        }
        let since = card.now();
        if session.is_none() && left > 0 {
            left -= 1;
            session = again(&plan, card).await;
        }
        let Some(open) = &mut session else { break };
        card.trying(step.cells);
        let tried = (step.step)(open, card).await;
        if let (Ok(()), true, Some(first)) = (&tried, step.cells.contains(&"apart"), &open.first) {
            card.met(open.ready.clone(), first.word.clone());
        }
        step.cells.iter().for_each(|id| card.judge(id, &tried, since));
        card.faults(open.faults());
        let more = steps[at + 1..].iter().flat_map(|step| step.cells).any(|id| card.wants(id));
        // What went wrong may have spoilt the session; a new one tells, as long as there is one.
        let spared = tried.is_ok() || !more || left == 0;
        let usable = open.settle().await && (spared || open.works().await.is_ok());
        if !usable {
            end(session.take(), card).await;
        }
    }
    for id in steps.iter().flat_map(|step| step.cells) {
        card.skip(id, "no session was left to try it in");
    }
    session
}

/// Begins a session anew and waits until it takes prompts.
pub(super) async fn again<'a>(plan: &Plan, card: &Card<'a>) -> Option<Session<'a>> {
    let mut session = Session::begin(card, plan, None).await.ok()?;
    if session.settle().await {
        return Some(session);
    }
    end(Some(session), card).await;
    None
}

/// Ends a session, whatever its state.
pub(super) async fn end(session: Option<Session<'_>>, card: &Card<'_>) {
    let Some(mut session) = session else { return };
    let stopped = session.stop().await;
    tracing::debug!(?stopped, "a session of the suite ended");
    card.faults(session.faults());
}
