//! The backend's reports on its session, and on a turn's end and cost.

use std::time::Duration;

use gangline_core::{
    TurnId,
    agent::{Finish, Input, Limit, RuntimeInput},
    answer::BUDGET_SPENT,
    budget::UsageSource,
    model::context_window,
    pause::{Unnamed, ramp},
    price::{Prices, Tokens},
    time::WallMicros,
    unreached::Unreached,
    usage::Spender,
};
use gangline_relay::Totals;
use gangline_runtime::{FailureKind, TurnResult};
use gangline_store::{Entry, NewUsage};

use super::AgentLoop;
use crate::texts;

/// By whom tokens are counted, and what they cost.
#[derive(Default)]
pub(super) struct Counted {
    prices: Prices,
    relay: Option<Totals>,
    /// How many calls the relay had counted when the backend last told its own count.
    seen: u64,
    /// The limits without a time, one after the other.
    unnamed: Unnamed,
}

impl Counted {
    /// Returns whether the relay has counted what the backend tells now.
    fn by_relay(&mut self) -> bool {
        let now = self.relay.as_ref().map_or(0, Totals::counted);
        std::mem::replace(&mut self.seen, now) != now
    }
}

impl AgentLoop {
    /// Says what models cost, and what the relay counts.
    pub(crate) fn counts(mut self, prices: Prices, relay: Option<Totals>) -> Self {
        self.counted = Counted { prices, relay, ..Counted::default() };
        self
    }

    pub(super) fn session_is(&mut self, session: gangline_runtime::SessionId) {
        let session = session.is_session().then_some(session.0);
        self.shown.session = session.clone();
        self.keep_session(session);
    }

    /// Has this session kept for the next daemon; none = it begins a new one.
    pub(super) fn keep_session(&mut self, session: Option<String>) {
        self.journal.agent(gangline_store::AgentUpdate {
            session: Some(session),
            known_as: self.shown.known_as.clone(),
            ..Default::default()
        });
    }

    /// Returns what a model's context holds whose backend does not say so.
    fn window_of(&self, model: &str) -> Option<u64> {
        let named = [Some(model), self.generations.model()].into_iter().flatten();
        named.filter(|name| !name.is_empty()).find_map(context_window)
    }

    pub(super) fn finish(&mut self, turn: TurnId, result: TurnResult) -> Finish {
        if !matches!(result, TurnResult::RateLimited { retry_after: None }) {
            self.counted.unnamed.passed();
        }
        match result {
            TurnResult::Completed => Finish::Completed,
            TurnResult::Interrupted => Finish::Interrupted,
            // The turn may go on; if not, this is told at its end.
            TurnResult::Failed { kind: FailureKind::ContextOverflow, why } => {
                self.reports.failure = Some(why);
                Finish::Overflow
            }
            TurnResult::Failed { kind, why } => {
                let kind = match texts::is_budget_refusal(&why) {
                    true => BUDGET_SPENT,
                    false => named(kind, &why),
                };
                self.reports.failure = Some(why.clone());
                self.record_notice(Some(turn), kind, why);
                Finish::Failed(kind.to_owned())
            }
            TurnResult::NeedsLogin { hint } => {
                self.shown.login_hint = Some(hint.clone());
                self.reports.failure = Some(hint.clone());
                self.record_notice(Some(turn), "needs_login", hint);
                Finish::NeedsLogin
            }
            TurnResult::RateLimited { retry_after } => {
                let said = match retry_after {
                    Some(seconds) => Duration::from_secs(seconds),
                    None => self.counted.unnamed.met(self.now()),
                };
                let limit = Limit::of(said);
                let wait = match limit {
                    Limit::Throttle => said,
                    // The others of the account begin then too.
                    Limit::Quota => said.saturating_add(ramp(self.me.agent.as_str())),
                };
                let until = self.me.clock.now().plus(wait);
                Finish::RateLimited { until: WallMicros(until.0), wait, limit }
            }
        }
    }

    pub(super) fn usage(&mut self, turn: TurnId, usage: &gangline_runtime::Usage) {
        let usage = &usage.bounded();
        let count = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        if let Some(tokens) = usage.context_tokens {
            let window = usage.context_window.or_else(|| self.window_of(&usage.model));
            self.shown.context = (Some(tokens), window);
            let now = self.now();
            self.feed.context(now, self.shown.context);
            self.think(Input::Runtime(RuntimeInput::Holds { tokens, window }));
        }
        // What the relay has counted is recorded already.
        if self.counted.by_relay() {
            return;
        }
        let tokens = Tokens {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_read: usage.cache_read_tokens,
            cache_write: usage.cache_write_tokens,
            cache_write_hour: 0,
        };
        let named = [Some(usage.model.as_str()), self.generations.model()].into_iter().flatten();
        let mut named = named.filter(|name| !name.is_empty());
        let listed = || named.next().and_then(|model| self.counted.prices.cost(model, &tokens));
        let cost = usage.cost_micros.or_else(listed);
        let usage = NewUsage {
            agent: self.me.agent.clone(),
            turn: Some(turn),
            by: Spender::Agent,
            model: usage.model.clone(),
            input: count(usage.input_tokens),
            output: count(usage.output_tokens),
            cache_read: count(usage.cache_read_tokens),
            cache_write: count(usage.cache_write_tokens),
            cost_micros: cost.map(count),
            source: UsageSource::Backend,
        };
        self.journal.push(Entry::Usage(usage));
    }
}

/// Returns the word for a failure: the cause, if the model's server was not reached.
fn named(kind: FailureKind, why: &str) -> &'static str {
    let unreached = match kind {
        FailureKind::Provider | FailureKind::Request | FailureKind::Other => Unreached::of(why),
        FailureKind::Auth | FailureKind::ContextOverflow | FailureKind::StepLimit => None,
    };
    unreached.map_or(kind.as_str(), Unreached::as_str)
}
