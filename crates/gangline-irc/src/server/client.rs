//! What the server knows of one connection.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use gangline_core::{AgentName, Nick, Principal, Tier};
use gangline_os::clock::UnixMicros;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

use super::{
    caps::Caps,
    client_id::ClientId,
    draft::Draft,
    holder::Holder,
    outbox::Outbox,
    outgoing::Outgoing,
    paced::Paced,
    reading::Reading,
    store::Party,
    trust::{Origin, Whose},
};
use crate::wire::{Message, sasl::Answer, scram::Challenge};

/// What the two subtasks of a connection share with the server's task.
pub(super) struct Shared {
    /// Bytes that wait to be written.
    pub(super) queued: AtomicUsize,
    /// Bytes that were written so far.
    pub(super) written: AtomicU64,
    /// Bytes that had been written when something was heard the last time.
    pub(super) proven: AtomicU64,
    /// Whether the server's task is told once little waits to be written.
    pub(super) wanted: AtomicBool,
    /// Whether lines are read at any pace.
    pub(super) exempt: AtomicBool,
    /// Room for lines that are being worked on.
    pub(super) credit: Arc<Semaphore>,
    /// The server has let go; what is queued may still be written.
    pub(super) closing: CancellationToken,
    /// Nothing more is written.
    pub(super) kill: CancellationToken,
}

/// The queue to a writer is full: its reader does not keep up.
pub(super) struct QueueFull;

/// The server's end of a connection's queue; the writer ends after its last line once this is gone.
pub(super) struct SendQueue {
    lines: Arc<Outbox>,
    shared: Arc<Shared>,
    cap: usize,
    /// Bytes that were ever queued. Only the server's task counts them.
    pushed: AtomicU64,
}

impl Drop for SendQueue {
    fn drop(&mut self) {
        self.lines.close();
    }
}

impl SendQueue {
    pub(super) fn new(lines: Arc<Outbox>, shared: Arc<Shared>, cap: usize) -> Self {
        Self { lines, shared, cap, pushed: AtomicU64::new(0) }
    }

    /// Queues a line, without waiting.
    pub(super) fn push(&self, line: Bytes) -> Result<(), QueueFull> {
        let bytes = line.len();
        let before = self.shared.queued.fetch_add(bytes, Ordering::AcqRel);
        if before + bytes > self.cap || !self.lines.push(line) {
            return Err(QueueFull);
        }
        self.pushed.store(self.pushed() + bytes as u64, Ordering::Relaxed);
        Ok(())
    }

    /// Returns how many bytes were ever queued.
    pub(super) fn pushed(&self) -> u64 {
        self.pushed.load(Ordering::Relaxed)
    }

    /// Returns how many bytes wait to be written.
    pub(super) fn queued(&self) -> usize {
        self.shared.queued.load(Ordering::Acquire)
    }

    /// Has the server's task told once little waits to be written.
    pub(super) fn call_when_low(&self) {
        self.shared.wanted.store(true, Ordering::Release);
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }
}

/// Who a client is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Identity {
    /// It proved an account.
    Account(Principal),
    /// It proved nothing; the kernel tells a member from a stranger.
    Peer(Tier),
    /// An agent's daemon started it: what it says, the agent says, but it has neither the agent's name
    /// nor its conversations.
    Shell(AgentName),
}

/// A SASL exchange that is going on.
pub(super) struct Login {
    /// What has come of the client's next message.
    pub(super) answer: Answer,
    pub(super) step: LoginStep,
}

/// What the client's next message is.
pub(super) enum LoginStep {
    /// PLAIN's only one.
    Plain,
    /// SCRAM's first one.
    ScramFirst,
    /// SCRAM's proof of this account.
    ScramProof { challenge: Box<Challenge>, principal: Principal },
    /// An empty one: the client is content with our proof.
    ScramDone(Principal),
    /// What is left of a message that was too long.
    Rest,
}

/// How far registration has come.
pub(super) struct Registering {
    /// CAP LS or REQ was sent and CAP END was not.
    pub(super) negotiating: bool,
    /// Whether it has sent a line.
    pub(super) heard: bool,
}

/// A client's life.
pub(super) enum Stage {
    /// Before 001.
    Registering(Registering),
    /// After it.
    Ready,
}

/// A request whose answers are being collected, to be labelled.
pub(super) struct Scope {
    pub(super) label: String,
    pub(super) answers: Vec<Outgoing>,
    /// The batch that has been begun for them: they are too many to be collected.
    pub(super) batch: Option<String>,
}

/// A request that waits until the client's earlier lines are kept.
pub(super) struct Held {
    pub(super) message: Message,
    pub(super) credit: OwnedSemaphorePermit,
}

/// One connection.
pub(super) struct Client {
    pub(super) id: ClientId,
    /// Whose process it is, as it was when it was accepted.
    pub(super) origin: Origin,
    /// Which agent's process it is, if it is of this user.
    pub(super) whose: Whose,
    pub(super) queue: SendQueue,
    pub(super) stage: Stage,
    /// The nick; before registration the wanted one, which nobody else sees.
    pub(super) nick: Option<Nick>,
    /// When it took this nick.
    pub(super) named_at: UnixMicros,
    pub(super) user: Option<String>,
    pub(super) realname: String,
    pub(super) caps: Caps,
    /// 302 or more: the client spoke `CAP LS 302`.
    pub(super) cap_version: u32,
    pub(super) identity: Identity,
    pub(super) sasl: Option<Login>,
    /// Wrong credentials so far.
    pub(super) failures: u32,
    pub(super) away: Option<String>,
    pub(super) bot: bool,
    pub(super) invisible: bool,
    /// Whether it is an operator of the server.
    pub(super) oper: bool,
    /// Whether it wants the lines of operators of the server.
    pub(super) wallops: bool,
    /// Folded names of the rooms that are this session's.
    pub(super) founded: BTreeSet<String>,
    /// Folded names.
    pub(super) channels: BTreeSet<String>,
    /// Folded nicks whose coming and going is told.
    pub(super) monitors: BTreeSet<String>,
    pub(super) connected_at: Duration,
    pub(super) heard_at: Duration,
    pub(super) spoke_at: Duration,
    pub(super) pinged_at: Option<Duration>,
    /// What it was shown of each place and may not have read.
    pub(super) reading: Reading,
    /// Requests that wait for the store.
    pub(super) in_flight: usize,
    pub(super) held: VecDeque<Held>,
    pub(super) scope: Option<Scope>,
    /// A message of several lines that it is sending.
    pub(super) draft: Option<Draft>,
    /// Lists that are being sent, counted in `in_flight`.
    pub(super) paced: VecDeque<Paced>,
    /// The peer is gone; why. The client goes when nothing of it is held or in flight.
    pub(super) leaving: Option<String>,
}

impl Client {
    pub(super) fn is_ready(&self) -> bool {
        match self.stage {
            Stage::Registering(_) => false,
            Stage::Ready => true,
        }
    }

    /// Returns the nick, or `*` before there is one.
    pub(super) fn name(&self) -> &str {
        self.nick.as_ref().map_or("*", Nick::as_str)
    }

    pub(super) fn account(&self) -> Option<&str> {
        match &self.identity {
            Identity::Account(principal) => Some(&principal.account),
            Identity::Peer(_) | Identity::Shell(_) => None,
        }
    }

    /// Returns the account, folded.
    pub(super) fn folded_account(&self) -> Option<String> {
        self.account().map(gangline_core::name::fold)
    }

    /// Returns who it is to a room.
    pub(super) fn holder(&self) -> Holder {
        self.folded_account().map_or(Holder::Session(self.id), Holder::Account)
    }

    pub(super) fn tier(&self) -> Tier {
        match &self.identity {
            Identity::Account(principal) => principal.tier,
            Identity::Peer(tier) => *tier,
            Identity::Shell(_) => Tier::Agent,
        }
    }

    /// Returns whether it is another user's and has no account.
    pub(super) fn is_guest(&self) -> bool {
        self.identity == Identity::Peer(Tier::Stranger)
    }

    pub(super) fn principal(&self) -> Principal {
        match &self.identity {
            Identity::Account(principal) => principal.clone(),
            Identity::Peer(tier) => Principal { account: format!("~{}", self.name()), tier: *tier },
            Identity::Shell(agent) => Principal { account: format!("~{agent}"), tier: Tier::Agent },
        }
    }

    pub(super) fn party(&self) -> Party {
        let nick = || self.nick.as_ref().map_or_else(String::new, |nick| nick.folded().to_owned());
        match &self.identity {
            Identity::Account(principal) => {
                Party::Account(gangline_core::name::fold(&principal.account))
            }
            Identity::Peer(Tier::Member) => Party::Member(nick()),
            Identity::Peer(Tier::Stranger | Tier::Agent | Tier::Owner) | Identity::Shell(_) => {
                Party::Stranger(nick())
            }
        }
    }

    /// Returns the host that others see; a loopback peer has no better one.
    pub(super) fn host(&self) -> String {
        match self.origin {
            Origin::Unknown(ip) if !ip.is_loopback() => ip.to_string(),
            Origin::Unknown(_) | Origin::Socket | Origin::Own | Origin::User(_) => {
                "localhost".to_owned()
            }
        }
    }

    pub(super) fn shown_user(&self) -> &str {
        self.user.as_deref().unwrap_or("~unknown")
    }

    /// Returns `nick!user@host`.
    pub(super) fn source(&self) -> String {
        format!("{}!{}@{}", self.name(), self.shown_user(), self.host())
    }
}

#[cfg(test)]
mod tests;
