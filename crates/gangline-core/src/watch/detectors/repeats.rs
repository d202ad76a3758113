//! The same call with the same result, again and again, and nothing new in between.

use std::{collections::VecDeque, time::Duration};

use crate::{time::Now, watch::digest};

/// The beginning of these findings' keys.
pub(super) const KEY: &str = "rule/repeated_call/";
/// A call has been repeated when it was made so often, always with the same result.
pub(crate) const CALLS: u32 = 5;
/// A repeated call that comes so long after the one before is polling, which may take longer …
pub(crate) const POLL_EVERY: Duration = Duration::from_secs(20);
/// … and is a finding when it was made so often.
pub(crate) const POLLS: u32 = 20;
/// The most different calls, with their results, that are remembered.
pub(crate) const REMEMBERED: usize = 32;

#[derive(Debug)]
struct Pair {
    /// The call and its result.
    digest: u64,
    last: Now,
    /// How often it was repeated since anything new, and how often at once.
    repeated: u32,
    at_once: u32,
}

#[derive(Debug, Default)]
pub(super) struct Repeats {
    pairs: VecDeque<Pair>,
}

/// A call that was made before, with the same result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repeated {
    pub(super) key: String,
    pub(super) nth: u32,
    pub(super) times: u32,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Seen {
    /// The call or its result is new, so there is progress.
    New,
    /// Both are known.
    Again(Repeated),
}

impl Repeats {
    /// Something has changed, so every call may be made again.
    pub(super) fn changed(&mut self) {
        self.pairs.clear();
    }

    pub(super) fn returned(&mut self, now: Now, (call, tool, result): (u64, &str, u64)) -> Seen {
        let pair = digest(&format!("{call} {tool} {result}"));
        let Some(at) = self.pairs.iter().position(|it| it.digest == pair) else {
            if self.pairs.len() >= REMEMBERED {
                self.pairs.pop_front();
            }
            for known in &mut self.pairs {
                (known.repeated, known.at_once) = (0, 0);
            }
            self.pairs.push_back(Pair { digest: pair, last: now, repeated: 0, at_once: 0 });
            return Seen::New;
        };
        let known = &mut self.pairs[at];
        known.repeated = known.repeated.saturating_add(1);
        if now.since(known.last) < POLL_EVERY {
            known.at_once = known.at_once.saturating_add(1);
        }
        known.last = now;
        // The first call is no repetition, but it counts as one of them.
        let nth =
            (known.at_once.saturating_add(1) / CALLS).max(known.repeated.saturating_add(1) / POLLS);
        let times = known.repeated.saturating_add(1);
        Seen::Again(Repeated { key: format!("{KEY}{pair:016x}"), nth, times })
    }

    #[cfg(test)]
    pub(super) fn remembered(&self) -> usize {
        self.pairs.len()
    }
}
