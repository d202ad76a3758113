//! Budgets: how much may be spent in a day, by whom, and what happens when it is spent.
//!
//! Pure: what was spent is an argument, and so is the time. Start at [`Budget::standing`]; when a relay
//! has to refuse is [`Budget::left`], where a day begins is [`day`].

use std::{fmt, str::FromStr};

use jiff::Zoned;

use crate::{AgentName, ChannelName, price, words};

words! {
    /// What happens when a budget is spent.
    BudgetAction, "action of a budget" {
        /// People are told.
        Warn = "warn",
        /// No new turn begins until the next day; messages are stored.
        Hold = "hold",
        /// As `hold`, and the open turn's next request to the model is refused.
        Stop = "stop",
    }
}

words! {
    /// Where the number of used tokens comes from.
    UsageSource, "source of usage" {
        /// The backend said so.
        Backend = "backend",
        /// The relay counted it on its way.
        Relay = "relay",
    }
}

words! {
    /// How a request to a model's API ended, as a relay sees it.
    CallOutcome, "outcome of a call" {
        /// The API answered.
        Answered = "answered",
        /// 401 or 403, or an error inside a stream that says the same: the credentials were refused.
        Unauthorized = "unauthorized",
        /// 429, or an error inside a stream that says the same: too many requests, or a spent quota.
        RateLimited = "rate_limited",
        /// The conversation does not fit the model's context any more.
        Overflow = "overflow",
        /// Another 4xx.
        Rejected = "rejected",
        /// 5xx, another error inside a stream, or the API could not be reached.
        Failed = "failed",
        /// The response ended before it was whole, or the backend went away.
        Cut = "cut",
        /// The relay refused it: a budget is spent.
        Refused = "refused",
        /// The daemon was killed meanwhile, so nobody knows; what it used is estimated.
        Unsettled = "unsettled",
    }
}

/// So much of a budget, in percent, is told before it is spent.
pub const NEARLY_PERCENT: u64 = 80;

/// Whose spending a budget bounds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BudgetScope {
    /// One agent's.
    Agent(AgentName),
    /// That of turns with messages from a room.
    Room(ChannelName),
    /// The whole installation's.
    Day,
}

/// The word for the whole installation.
const DAY: &str = "day";

impl fmt::Display for BudgetScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agent(agent) => f.write_str(agent.folded()),
            Self::Room(room) => f.write_str(room.folded()),
            Self::Day => f.write_str(DAY),
        }
    }
}

/// A text that names no scope.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is neither an agent's nick, nor a channel, nor `day`")]
pub struct NoScope(String);

impl FromStr for BudgetScope {
    type Err = NoScope;

    /// Reads what [`Display`](fmt::Display) writes.
    fn from_str(text: &str) -> Result<Self, NoScope> {
        if text == DAY {
            return Ok(Self::Day);
        }
        let room = || text.parse().map(Self::Room).ok();
        let agent = || text.parse().map(Self::Agent).ok();
        room().or_else(agent).ok_or_else(|| NoScope(text.to_owned()))
    }
}

/// How much may be spent in a day. At least one of the two limits is there, and each is above 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Most tokens, those read from the cache not counted.
    pub tokens: Option<u64>,
    /// Most money, in millionths of a dollar.
    pub micros: Option<u64>,
    /// What happens when one of them is spent.
    pub action: BudgetAction,
}

/// What was spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Tokens, those read from the cache not counted.
    pub tokens: u64,
    /// Money whose sum is known, in millionths of a dollar.
    pub micros: u64,
    /// Records whose cost nobody knows.
    pub unknown: u64,
}

words! {
    /// How a budget stands; the later, the worse.
    Standing, "standing of a budget" {
        /// There is enough.
        Fine = "fine",
        /// At least [`NEARLY_PERCENT`] of a limit is spent.
        Nearly = "nearly",
        /// A limit is reached.
        Spent = "spent",
    }
}

impl Budget {
    /// Returns the budget with more for today.
    #[must_use]
    pub fn raised(self, by: &Raise) -> Self {
        let add = |limit: Option<u64>, more: u64| limit.map(|limit| limit.saturating_add(more));
        Self { tokens: add(self.tokens, by.tokens), micros: add(self.micros, by.micros), ..self }
    }

    /// Returns how it stands when so much is spent.
    #[must_use]
    pub fn standing(&self, spent: &Spent) -> Standing {
        let of = |limit: Option<u64>, spent: u64| match limit {
            None => Standing::Fine,
            Some(limit) if spent >= limit => Standing::Spent,
            Some(limit) if near(spent, limit) => Standing::Nearly,
            Some(_) => Standing::Fine,
        };
        of(self.tokens, spent.tokens).max(of(self.micros, spent.micros))
    }

    /// Returns how much may still be spent: tokens and money; `None` = that is not bounded.
    #[must_use]
    pub fn left(&self, spent: &Spent) -> (Option<u64>, Option<u64>) {
        let left = |limit: Option<u64>, spent| limit.map(|limit| limit.saturating_sub(spent));
        (left(self.tokens, spent.tokens), left(self.micros, spent.micros))
    }

    /// Returns for people how much of it is spent: `$4.10 of $5.00, 12000 of 50000 tokens`.
    #[must_use]
    pub fn shown(&self, spent: &Spent) -> String {
        let money = self.micros.map(|limit| {
            let unknown = match spent.unknown {
                0 => "",
                _ => " (and what has no known price)",
            };
            format!("{} of {}{unknown}", price::dollars(spent.micros), price::dollars(limit))
        });
        let tokens = self.tokens.map(|limit| format!("{} of {limit} tokens", spent.tokens));
        money.into_iter().chain(tokens).collect::<Vec<_>>().join(", ")
    }
}

fn near(spent: u64, limit: u64) -> bool {
    u128::from(spent) * 100 >= u128::from(limit) * u128::from(NEARLY_PERCENT)
}

/// What a person adds to today's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Raise {
    /// Tokens.
    pub tokens: u64,
    /// Money, in millionths of a dollar.
    pub micros: u64,
}

/// A text that is no amount.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an amount: write dollars as `'$2.50'` or tokens as `500k`")]
pub struct NoAmount(String);

impl FromStr for Raise {
    type Err = NoAmount;

    /// Reads `$2.50`, `2.50usd`, `50000`, `500k` or `2m`; above 0.
    fn from_str(text: &str) -> Result<Self, NoAmount> {
        let bad = || NoAmount(text.chars().take(40).collect());
        let lower = text.to_ascii_lowercase();
        let money = lower.strip_prefix('$').or_else(|| lower.strip_suffix("usd"));
        let raise = match money {
            Some(dollars) => {
                Self { micros: price::micros(dollars.trim()).ok_or_else(bad)?, tokens: 0 }
            }
            None => {
                let tokens = lower.strip_suffix("tokens").unwrap_or(&lower).trim();
                let (digits, each) = match tokens.strip_suffix(['k', 'm']) {
                    Some(digits) if tokens.ends_with('k') => (digits, 1000),
                    Some(digits) => (digits, 1_000_000),
                    None => (tokens, 1),
                };
                let number: u64 = digits.parse().map_err(|_| bad())?;
                Self { tokens: number.checked_mul(each).ok_or_else(bad)?, micros: 0 }
            }
        };
        if raise == Self::default() { Err(bad()) } else { Ok(raise) }
    }
}

impl fmt::Display for Raise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.micros {
            0 if self.tokens == 1 => f.write_str("1 token"),
            0 => write!(f, "{} tokens", self.tokens),
            micros => f.write_str(&price::dollars(micros)),
        }
    }
}

/// A day by the clock on the wall: 23 to 25 hours, where clocks are changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Day {
    /// `2026-11-26`.
    pub name: String,
    /// Its first moment, in microseconds since 1970.
    pub begins: i64,
    /// The next day's first moment.
    pub ends: i64,
}

/// Returns the day of a moment, in that moment's time zone; `None` at the end of the calendar.
#[must_use]
pub fn day(now: &Zoned) -> Option<Day> {
    let begins = now.start_of_day().ok()?;
    let ends = begins.tomorrow().ok()?.start_of_day().ok()?;
    Some(Day {
        name: begins.strftime("%Y-%m-%d").to_string(),
        begins: begins.timestamp().as_microsecond(),
        ends: ends.timestamp().as_microsecond(),
    })
}

/// The agents that parked within this time count for the fleet's breaker, in microseconds.
pub const FLEET_WINDOW_MICROS: i64 = 600_000_000;
/// The fewest agents that make a fleet: of two, one is half.
pub const FLEET_MIN: usize = 3;

/// Returns whether the whole fleet is to be held: half of the running agents or more parked within
/// [`FLEET_WINDOW_MICROS`] before `now`. `parked` is when each agent parked, for those that are parked.
#[must_use]
pub fn fleet_breaks(running: usize, parked: &[i64], now: i64) -> bool {
    let recent = |at: &&i64| now.saturating_sub(**at) <= FLEET_WINDOW_MICROS;
    running >= FLEET_MIN && parked.iter().filter(recent).count() * 2 >= running
}

#[cfg(test)]
mod tests;
