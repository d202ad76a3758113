//! Decisions about approvals, as people write them on a line. The mention is stripped before
//! ([`crate::mention`]).

use crate::{approval::view::Extent, id::ApprovalNumber, words};

pub mod diff;
pub mod page;
pub mod remind;
pub mod view;

words! {
    /// What was decided about one action.
    Decision, "decision" {
        /// It may be done.
        Allow = "allow",
        /// It may not.
        Deny = "deny",
    }
}

impl Decision {
    fn of(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "yes" | "y" | "allow" => Some(Self::Allow),
            "no" | "n" | "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

words! {
    /// Where an approval stands.
    ApprovalState, "approval state" {
        /// It waits for a decision.
        Open = "open",
        /// Decided: it may be done.
        Allowed = "allowed",
        /// Decided: it may not.
        Denied = "denied",
        /// Its daemon died. A decision made now counts for the message's next attempt only, which
        /// asks again under the same number.
        Void = "void",
        /// Its turn ended before anybody decided, or its backend took it back.
        Withdrawn = "withdrawn",
    }
}

words! {
    /// Who may be shown what an approval is about.
    Audience, "audience" {
        /// Everybody where it was asked.
        Everybody = "everybody",
        /// Owners, in private: it is shown as it is, because nobody knows what may be hidden of it.
        Owners = "owners",
    }
}

/// How far a decision reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// It decides this one approval.
    Once,
    /// It also stores the rule that the approval offers: the same is not asked again.
    Always,
}

/// The word behind a decision that makes it [`Reach::Always`].
const ALWAYS: &str = "always";

/// The longest reason of a refusal, in bytes.
pub const REASON_MAX: usize = 1000;
/// A bare word decides an approval that was announced at least so long before, in microseconds: who
/// types faster than that has not read it.
pub const SEEN_AFTER: i64 = 1_000_000;

/// A line that has the form of a decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DecisionLine {
    /// What it says.
    pub decision: Decision,
    /// How far it reaches; [`Reach::Always`] only for a permission with a number.
    pub reach: Reach,
    /// Which approval it names; `None` for a bare word.
    pub number: Option<ApprovalNumber>,
    /// Why not, for the model; only with a number.
    pub reason: Option<String>,
}

/// Returns the line as a decision, if the whole text is one: `yes`, `no`, `y`, `n`, `allow`,
/// `deny`, alone or with a number before or after (`yes 12`, `12 yes`, `yes #12`). After a refusal
/// with a number the rest is the reason (`no 12 use make`). A permission with a number may end with
/// `always` (`yes 12 always`).
#[must_use]
pub fn parse(text: &str) -> Option<DecisionLine> {
    let text = text.trim();
    let bare = text.trim_end_matches(['.', '!']);
    if let Some(decision) = Decision::of(bare) {
        return Some(DecisionLine { decision, reach: Reach::Once, number: None, reason: None });
    }
    let (first, rest) = bare.split_once(char::is_whitespace)?;
    let (second, rest) = match rest.trim_start().split_once(char::is_whitespace) {
        Some((second, rest)) => (second, rest.trim()),
        None => (rest.trim(), ""),
    };
    // `no 5: use make`
    let second = if rest.is_empty() { second } else { second.trim_end_matches([':', ',', ';']) };
    let pair =
        Decision::of(first).zip(number(second)).or_else(|| Decision::of(second).zip(number(first)));
    let (decision, number) = pair?;
    let number = Some(number);
    let always = rest.eq_ignore_ascii_case(ALWAYS);
    let once = DecisionLine { decision, reach: Reach::Once, number, reason: None };
    match (decision, rest) {
        (_, "") => Some(once),
        (Decision::Allow, _) if always => Some(DecisionLine { reach: Reach::Always, ..once }),
        (Decision::Deny, _) if !always => {
            // With the marks at its end that a bare word loses.
            let from = bare.len() - rest.len();
            let reason = text[from..][..text[from..].floor_char_boundary(REASON_MAX)].to_owned();
            Some(DecisionLine { reason: Some(reason), ..once })
        }
        (Decision::Allow | Decision::Deny, _) => None,
    }
}

pub(crate) fn number(word: &str) -> Option<ApprovalNumber> {
    let digits = word.strip_prefix('#').unwrap_or(word);
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if all { digits.parse().ok().map(ApprovalNumber) } else { None }
}

/// When a line was said, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Moment {
    /// By the server's clock, where the server tells it.
    pub told: Option<i64>,
    /// By our clock, when it came.
    pub heard: i64,
}

impl Moment {
    /// Returns how long this is after another moment: by the server's clock if both were told by
    /// it.
    #[must_use]
    pub fn since(self, other: Self) -> i64 {
        match self.told.zip(other.told) {
            Some((later, earlier)) => later.saturating_sub(earlier),
            None => self.heard.saturating_sub(other.heard),
        }
    }
}

/// How an approval was announced in the place where a line was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Announced {
    /// Whether the announcement shows all of it.
    pub extent: Extent,
    /// When its last line was said.
    pub at: Moment,
}

/// An approval that waits for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenApproval {
    /// Its number.
    pub number: ApprovalNumber,
    /// How it was announced where the line was said; `None` if it was not announced there (yet).
    pub announced: Option<Announced>,
}

/// How many agents a line addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Addressed {
    /// This agent alone, or it is a direct message.
    One,
    /// Other agents too.
    Several,
}

/// What a line means for the open approvals.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Resolution {
    /// It decides this one; it is no prompt.
    Decided {
        /// Which approval.
        number: ApprovalNumber,
        /// What was decided.
        decision: Decision,
        /// How far it reaches.
        reach: Reach,
        /// Why not, for the model.
        reason: Option<String>,
    },
    /// It is no decision: a prompt like any other.
    NotADecision,
    /// A bare word that decides nothing; the person is told the exact words.
    NeedsNumber {
        /// The open ones, in order.
        open: Vec<ApprovalNumber>,
        /// What the word says.
        decision: Decision,
        /// Why it is not enough.
        why: Unclear,
    },
    /// It names one that is not open.
    Unknown {
        /// Which.
        number: ApprovalNumber,
        /// What the line says.
        decision: Decision,
        /// How far it reaches.
        reach: Reach,
        /// Why not, for the model.
        reason: Option<String>,
    },
}

/// Why a bare word decides nothing while an approval is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unclear {
    /// Several are open.
    Several,
    /// The line addresses several agents.
    Addressed,
    /// It was not announced where the line was said.
    Elsewhere,
    /// Its announcement does not show all of it.
    Cut,
    /// Its announcement came less than [`SEEN_AFTER`] before.
    TooSoon,
    /// The line is an old one, from history.
    Old,
}

/// Returns what a line means. A bare word decides only if it is the whole text, addresses one
/// agent, exactly one approval of the agent is open, and that one was announced whole in this place
/// at least [`SEEN_AFTER`] before. A line with a number decides wherever it is said.
///
/// `line`: when it was said; `None` if it comes from history, and then a number is needed.
#[must_use]
pub fn resolve(
    text: &str,
    addressed: Addressed,
    open: &[OpenApproval],
    line: Option<Moment>,
) -> Resolution {
    let Some(DecisionLine { decision, reach, number, reason }) = parse(text) else {
        return Resolution::NotADecision;
    };
    if let Some(number) = number {
        return if open.iter().any(|approval| approval.number == number) {
            Resolution::Decided { number, decision, reach, reason }
        } else {
            Resolution::Unknown { number, decision, reach, reason }
        };
    }
    let mut numbers: Vec<_> = open.iter().map(|approval| approval.number).collect();
    numbers.sort();
    let unclear = |why| Resolution::NeedsNumber { open: numbers.clone(), decision, why };
    match open {
        // "yes" without any question: ordinary talk.
        [] => Resolution::NotADecision,
        [_] if addressed == Addressed::Several => unclear(Unclear::Addressed),
        [only] => match (line, only.announced) {
            (None, _) => unclear(Unclear::Old),
            (Some(_), None) => unclear(Unclear::Elsewhere),
            (Some(_), Some(Announced { extent: Extent::Cut, .. })) => unclear(Unclear::Cut),
            (Some(line), Some(it)) if line.since(it.at) < SEEN_AFTER => unclear(Unclear::TooSoon),
            (Some(_), Some(_)) => {
                Resolution::Decided { number: only.number, decision, reach, reason: None }
            }
        },
        [..] => unclear(Unclear::Several),
    }
}

#[cfg(test)]
mod tests;
