//! Modes of a session: which of them asks before tools run, as far as names tell.
//!
//! Pure. A program may offer its modes twice, as modes and as a choice of the category `mode`; the
//! choice counts then.

use serde_json::Value;

use super::update::Choice;

/// The category of the choice that stands for the modes.
const CATEGORY: &str = "mode";

/// Names of modes that ask before every tool that changes something, the best first, without what
/// is neither letter nor digit. Programs agree on these and on little else.
pub(super) const ASKING: &[&str] = &[
    "default",
    "manual",
    "alwaysask",
    "askalways",
    "askbeforeedits",
    "approve",
    "ask",
    "readonly",
    "untrusted",
];
/// A mode that changes nothing at all: it is left, whoever chose it.
const HARMLESS: &[&str] = &["plan"];
/// What the description of an asking mode says.
const SAYS_SO: &[&str] = &[
    "always ask",
    "ask before",
    "asks before",
    "ask for approval",
    "asks for approval",
    "ask for permission",
    "asks for permission",
    "request permission",
    "requests permission",
    "prompts for approval",
    "requires approval",
    "require approval",
];
/// With some programs this is a mode for questions, in which nothing is done: it counts only if
/// its description says more.
const DOUBTFUL: &str = "ask";

/// One mode that is offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offered {
    pub(super) id: String,
    /// What people are told about it, in small letters.
    about: String,
}

/// The modes of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Modes {
    pub(super) current: String,
    pub(super) offered: Vec<Offered>,
    /// The choice that stands for them; `None`: they are set by `session/set_mode`.
    pub(super) choice: Option<String>,
}

/// How a session stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// It asks, or changes nothing.
    Asks,
    /// It would ask in this mode.
    Other(String),
    /// No mode is known to ask.
    NoWay,
}

impl Modes {
    /// Reads the modes of an answer that opens a session.
    pub(super) fn of(answer: &Value) -> Option<Self> {
        let modes = &answer["modes"];
        let current = modes["currentModeId"].as_str()?.to_owned();
        let offered = modes["availableModes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let offered = offered.iter().filter_map(|mode| Offered::of(&mode["id"], mode)).collect();
        Some(Self { current, offered, choice: None })
    }

    /// Reads the modes of the choices of a session.
    pub(super) fn chosen(choices: &[Choice]) -> Option<Self> {
        let choice = choices.iter().find(|it| it.category.as_deref() == Some(CATEGORY))?;
        let current = choice.current_value.as_str()?.to_owned();
        // A group of options has options of its own.
        let nested = choice.options.iter().flat_map(|option| match option["options"].as_array() {
            Some(group) => group.as_slice(),
            None => std::slice::from_ref(option),
        });
        let offered = nested.filter_map(|option| Offered::of(&option["value"], option)).collect();
        Some(Self { current, offered, choice: Some(choice.id.clone()) })
    }

    /// Returns how the session stands, by the names of the modes that ask.
    pub(super) fn standing(&self, asking: &[&str]) -> Standing {
        let current = self.offered.iter().find(|mode| mode.id == self.current);
        let asks = |mode: &Offered| {
            let name = bare(&mode.id);
            let known = asking.contains(&name.as_str());
            let sure = name != DOUBTFUL || mode.about.trim().is_empty() || mode.says_so();
            known && sure || mode.says_so()
        };
        let harmless = HARMLESS.contains(&bare(&self.current).as_str());
        let named = asking.contains(&bare(&self.current).as_str());
        if harmless || current.map_or(named, asks) {
            return Standing::Asks;
        }
        let by_name = asking.iter().find_map(|wanted| {
            self.offered.iter().find(|mode| bare(&mode.id) == *wanted && asks(mode))
        });
        match by_name.or_else(|| self.offered.iter().find(|mode| asks(mode))) {
            Some(mode) => Standing::Other(mode.id.clone()),
            None => Standing::NoWay,
        }
    }
}

impl Offered {
    fn of(id: &Value, described: &Value) -> Option<Self> {
        let text = |name: &str| described[name].as_str().unwrap_or_default().to_lowercase();
        let about = format!("{} {}", text("name"), text("description"));
        // A name that only repeats the id says nothing.
        let id = id.as_str()?.to_owned();
        let about = if bare(&about) == bare(&id) { String::new() } else { about };
        Some(Self { id, about })
    }

    fn says_so(&self) -> bool {
        SAYS_SO.iter().any(|words| self.about.contains(words))
    }
}

/// Returns a mode's plain name: some ids are addresses with the name at their end.
fn bare(id: &str) -> String {
    let name = id.rsplit(['#', '/']).next().unwrap_or(id);
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests;
