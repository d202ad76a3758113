//! The capabilities that the server offers, and a set of them.

use crate::wire::{multiline, sasl};

/// Bytes of capabilities on one line of `CAP LS`.
const LINE: usize = 400;

/// [`multiline::BYTES_MAX`] and [`multiline::LINES_MAX`].
const MULTILINE_LIMITS: &str = "max-bytes=16384,max-lines=100";

/// A set of capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Caps(u32);

/// What can be asked for: name, bit, and the value shown to a client that speaks 302.
struct Offer {
    name: &'static str,
    cap: Caps,
    value: Option<&'static str>,
}

impl Caps {
    pub(super) const TAGS: Self = Self(1);
    pub(super) const TIME: Self = Self(1 << 1);
    pub(super) const ECHO: Self = Self(1 << 2);
    pub(super) const LABEL: Self = Self(1 << 3);
    pub(super) const BATCH: Self = Self(1 << 4);
    pub(super) const ACCOUNT_TAG: Self = Self(1 << 5);
    pub(super) const ACCOUNT_NOTIFY: Self = Self(1 << 6);
    pub(super) const EXTENDED_JOIN: Self = Self(1 << 7);
    pub(super) const CHATHISTORY: Self = Self(1 << 8);
    pub(super) const SASL: Self = Self(1 << 9);
    pub(super) const MULTI_PREFIX: Self = Self(1 << 10);
    pub(super) const AWAY_NOTIFY: Self = Self(1 << 11);
    pub(super) const CAP_NOTIFY: Self = Self(1 << 12);
    pub(super) const SETNAME: Self = Self(1 << 13);
    pub(super) const STANDARD_REPLIES: Self = Self(1 << 14);
    pub(super) const INVITE_NOTIFY: Self = Self(1 << 15);
    pub(super) const USERHOST_IN_NAMES: Self = Self(1 << 16);
    pub(super) const EXTENDED_MONITOR: Self = Self(1 << 17);
    pub(super) const MULTILINE: Self = Self(1 << 18);
    pub(super) const READ_MARKER: Self = Self(1 << 19);
    pub(super) const REDACTION: Self = Self(1 << 20);
    pub(super) const EVENTS: Self = Self(1 << 21);

    /// Those that change how a line of somebody else is written.
    pub(super) const FORM: Self =
        Self(Self::TAGS.0 | Self::TIME.0 | Self::ACCOUNT_TAG.0 | Self::BATCH.0 | Self::MULTILINE.0);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    #[must_use]
    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    #[must_use]
    pub(super) fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the capability of that name.
    pub(super) fn named(name: &str) -> Option<Self> {
        OFFERS.iter().find(|offer| offer.name == name).map(|offer| offer.cap)
    }

    /// Returns the names of the set, for `CAP LIST`.
    pub(super) fn names(self) -> String {
        let held = OFFERS.iter().filter(|offer| self.has(offer.cap));
        held.map(|offer| offer.name).collect::<Vec<_>>().join(" ")
    }
}

/// Returns what is offered, with values if the client speaks 302, on as many lines as that needs.
pub(super) fn offered(version: u32) -> Vec<String> {
    let one = |offer: &Offer| match offer.value {
        Some(value) if version >= 302 => format!("{}={value}", offer.name),
        _ => offer.name.to_owned(),
    };
    let mut lines = vec![String::new()];
    for offer in OFFERS.iter().map(one) {
        // Older clients know of one line only.
        let full = |line: &String| version >= 302 && line.len() + offer.len() > LINE;
        match lines.last_mut().filter(|line| !full(line)) {
            Some(line) if line.is_empty() => line.push_str(&offer),
            Some(line) => {
                line.push(' ');
                line.push_str(&offer);
            }
            None => lines.push(offer),
        }
    }
    lines
}

const fn offer(name: &'static str, cap: Caps) -> Offer {
    Offer { name, cap, value: None }
}

const OFFERS: &[Offer] = &[
    offer("message-tags", Caps::TAGS),
    offer("server-time", Caps::TIME),
    offer("echo-message", Caps::ECHO),
    offer("labeled-response", Caps::LABEL),
    offer("batch", Caps::BATCH),
    offer("account-tag", Caps::ACCOUNT_TAG),
    offer("account-notify", Caps::ACCOUNT_NOTIFY),
    offer("extended-join", Caps::EXTENDED_JOIN),
    offer("draft/chathistory", Caps::CHATHISTORY),
    offer("chathistory", Caps::CHATHISTORY),
    offer("draft/event-playback", Caps::EVENTS),
    Offer { name: "sasl", cap: Caps::SASL, value: Some(sasl::OFFERED) },
    offer("multi-prefix", Caps::MULTI_PREFIX),
    offer("away-notify", Caps::AWAY_NOTIFY),
    offer("cap-notify", Caps::CAP_NOTIFY),
    offer("setname", Caps::SETNAME),
    offer("standard-replies", Caps::STANDARD_REPLIES),
    offer("invite-notify", Caps::INVITE_NOTIFY),
    offer("userhost-in-names", Caps::USERHOST_IN_NAMES),
    offer("extended-monitor", Caps::EXTENDED_MONITOR),
    Offer { name: multiline::MULTILINE, cap: Caps::MULTILINE, value: Some(MULTILINE_LIMITS) },
    offer("draft/read-marker", Caps::READ_MARKER),
    offer("draft/message-redaction", Caps::REDACTION),
];
