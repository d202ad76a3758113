//! Findings on the wire.

use gangline_core::{
    FindingNumber,
    finding::{ChoiceWord, FindingKind, FindingState, Severity},
    word::Stored,
};
use serde::{Deserialize, Serialize};

/// Payload of `finding`: a finding was raised, seen or resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The number by which it is answered.
    pub number: FindingNumber,
    /// Where it stands now: `open` when it is raised.
    pub state: Stored<FindingState>,
    /// What was found.
    pub kind: Stored<FindingKind>,
    /// How grave it is.
    pub severity: Stored<Severity>,
    /// Why, in one sentence for people, redacted.
    pub cause: String,
    /// What was chosen, once somebody has decided.
    #[serde(default)]
    pub choice: Option<Stored<ChoiceWord>>,
    /// Who saw it or decided; nobody if it held no more by itself.
    #[serde(default)]
    pub by: Option<String>,
}
