//! Decisions about approvals, as people write them on a line. The mention is stripped before
//! ([`crate::mention`]).

use std::fmt;

use crate::id::ApprovalNumber;

/// What was decided about one action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Decision {
    /// It may be done.
    Allow,
    /// It may not.
    Deny,
}

impl Decision {
    /// Returns the word used in records.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }

    fn of(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "yes" | "y" | "allow" => Some(Self::Allow),
            "no" | "n" | "deny" => Some(Self::Deny),
            _ => None,
        }
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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

/// A line that has the form of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DecisionLine {
    /// What it says.
    pub decision: Decision,
    /// How far it reaches; [`Reach::Always`] only for a permission with a number.
    pub reach: Reach,
    /// Which approval it names; `None` for a bare word.
    pub number: Option<ApprovalNumber>,
}

/// Returns the line as a decision, if the whole text is one: `yes`, `no`, `y`, `n`, `allow`,
/// `deny`, alone or with a number before or after (`yes 12`, `12 yes`, `yes #12`). A permission
/// with a number may end with `always` (`yes 12 always`).
#[must_use]
pub fn parse(text: &str) -> Option<DecisionLine> {
    let text = text.trim().trim_end_matches(['.', '!']);
    let mut words = text.split_whitespace();
    let (first, second, third) = (words.next()?, words.next(), words.next());
    if words.next().is_some() {
        return None;
    }
    let once = |decision, number| DecisionLine { decision, reach: Reach::Once, number };
    let Some(second) = second else {
        return Decision::of(first).map(|decision| once(decision, None));
    };
    let pair =
        Decision::of(first).zip(number(second)).or_else(|| Decision::of(second).zip(number(first)));
    let (decision, number) = pair?;
    match (third, decision) {
        (None, _) => Some(once(decision, Some(number))),
        (Some(word), Decision::Allow) if word.eq_ignore_ascii_case(ALWAYS) => {
            Some(DecisionLine { reach: Reach::Always, ..once(decision, Some(number)) })
        }
        (Some(_), Decision::Allow | Decision::Deny) => None,
    }
}

pub(crate) fn number(word: &str) -> Option<ApprovalNumber> {
    let digits = word.strip_prefix('#').unwrap_or(word);
    let all = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    if all { digits.parse().ok().map(ApprovalNumber) } else { None }
}

/// A place in the room's history; later lines have greater ones.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LineOrder(pub String);

/// An approval that waits for a decision.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct OpenApproval {
    /// Its number.
    pub number: ApprovalNumber,
    /// Where its announcement stands in the history in which the line was said; `None` if it was
    /// not announced there (yet).
    pub announced: Option<LineOrder>,
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
    },
    /// It is no decision: a prompt like any other.
    NotADecision,
    /// A bare word that does not say which; the person is told to give the number.
    NeedsNumber {
        /// The open ones, in order.
        open: Vec<ApprovalNumber>,
    },
    /// It names one that is not open.
    Unknown(ApprovalNumber),
}

/// Returns what a line means. A bare word decides only if it is the whole text, addresses one
/// agent, exactly one approval is open, and the line stands after that one's announcement.
///
/// `line`: where the line stands; `None` if that is unknown, and then a number is needed.
#[must_use]
pub fn resolve(
    text: &str,
    addressed: Addressed,
    open: &[OpenApproval],
    line: Option<&LineOrder>,
) -> Resolution {
    let Some(DecisionLine { decision, reach, number }) = parse(text) else {
        return Resolution::NotADecision;
    };
    if let Some(number) = number {
        return if open.iter().any(|approval| approval.number == number) {
            Resolution::Decided { number, decision, reach }
        } else {
            Resolution::Unknown(number)
        };
    }
    match open {
        // "yes" without any question: ordinary talk.
        [] => Resolution::NotADecision,
        [only] if addressed == Addressed::One && is_after(line, only) => {
            Resolution::Decided { number: only.number, decision, reach }
        }
        several => {
            let mut open: Vec<_> = several.iter().map(|approval| approval.number).collect();
            open.sort();
            Resolution::NeedsNumber { open }
        }
    }
}

fn is_after(line: Option<&LineOrder>, approval: &OpenApproval) -> bool {
    line.zip(approval.announced.as_ref()).is_some_and(|(line, announced)| line > announced)
}

#[cfg(test)]
mod tests;
