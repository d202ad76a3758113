//! The chat task: between the link and the store, in both directions.
//!
//! What is said to the agent is committed before anything else happens with it; what the agent
//! says leaves the outbox only by the server's confirmation. One task, so that the echo of an
//! approval's announcement and the lines after it are seen in the order of the room. Start at
//! [`Chat::run`].

mod addressee;
mod answer;
mod bare;
mod changes;
mod cursors;
mod decide;
mod findings;
mod first;
pub(crate) mod inquiries;
mod intake;
mod outbox;
mod owners;
mod places;
mod presence;
mod questions;
mod queue;
mod release;
mod remind;
mod show;
mod speaker;
mod taken;
#[cfg(test)]
mod tests;
mod trouble;
mod waits;
mod words;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use gangline_core::{
    AgentName, ApprovalNumber, Epoch,
    name::ChannelName,
    patience::{Notified, Patience},
    reading::Bounds,
    redact::Redactor,
    trust,
};
use gangline_irc::{
    client::{Line, LinkCommand, LinkEvent},
    wire::{Message, caps, multiline::MULTILINE},
};
use gangline_os::{
    CancellationToken,
    clock::{self, SharedClock, UnixMicros},
    paths::Paths,
};
use gangline_runtime::Capabilities;
use gangline_store::{Said, Store};
use tokio::sync::{Notify, mpsc, watch};
use tracing::{debug, info, warn};

use crate::{bus::Incoming, rooms::RoomsCommand, showing::Showing, stood_down::StoodDown};

use addressee::Addressees;
use cursors::Cursors;
use inquiries::{Inquiries, Inquiry};
use outbox::InFlight;
use owners::{Owners, Reminded, ToldAgain};
use trouble::Troubles;

/// How long a store that cannot be read at the start is waited for.
const RETRY_EVERY: Duration = Duration::from_secs(2);

/// How many are in channels.
pub(crate) type Counts = HashMap<ChannelName, u32>;

/// The chat task's part of the daemon.
pub(crate) struct ChatDeps {
    pub(crate) agent: AgentName,
    pub(crate) epoch: Epoch,
    pub(crate) store: Store,
    pub(crate) clock: SharedClock,
    pub(crate) redactor: Arc<Redactor>,
    /// The network's name in keys: the installation for its own server, else the address.
    pub(crate) network_id: String,
    /// Whether the server is the installation's own.
    pub(crate) own: bool,
    /// Whether nicks are believed on a server that is not.
    pub(crate) trust_nicks: bool,
    /// The channels that the agent is configured to be in.
    pub(crate) home: HashSet<ChannelName>,
    /// The alert channel, where it stays as well, and is ready without it.
    pub(crate) alerts: Option<ChannelName>,
    /// Every agent of the installation, this one too: who a line addresses.
    pub(crate) everybody: Vec<AgentName>,
    /// Cancelled when nothing is taken in any more: history keeps it for the successor.
    pub(crate) closed: CancellationToken,
    /// Cancelled when the places in history are known: the link waits for it.
    pub(crate) opened: CancellationToken,
    pub(crate) policy: trust::Policy,
    pub(crate) agent_loop: mpsc::Sender<Incoming>,
    pub(crate) link: mpsc::Sender<LinkCommand>,
    pub(crate) outbox: Arc<Notify>,
    pub(crate) rescan: Arc<Notify>,
    /// The task that looks at the time has something new to look at.
    pub(crate) alarm: Arc<Notify>,
    pub(crate) showing: watch::Receiver<Showing>,
    /// What the backend can do.
    pub(crate) can: Capabilities,
    pub(crate) paths: Paths,
    /// The folder of reminders that are too long for a message.
    pub(crate) reminders: PathBuf,
    /// What is closed to the agent.
    pub(crate) bounds: Bounds,
    /// Whose model somebody chooses.
    pub(crate) model_owner: String,
    /// Says which channels were joined, for the start's order.
    pub(crate) joined: watch::Sender<HashSet<ChannelName>>,
    /// The channels that the agent should be in: those of the configuration, changed by its
    /// own joins and parts.
    pub(crate) wanted: watch::Sender<HashSet<ChannelName>>,
    /// Says which of these the server does not let it be in.
    pub(crate) kept_out: watch::Sender<HashSet<ChannelName>>,
    /// Says how many are in those that it is in, where that is known.
    pub(crate) members: watch::Sender<Counts>,
    /// How many more turns a release gives.
    pub(crate) turns_released: i64,
    /// Where lines are kept for the agent to read.
    pub(crate) rooms: mpsc::Sender<RoomsCommand>,
}

/// The chat task.
pub(crate) struct Chat {
    deps: ChatDeps,
    up: bool,
    /// The number of the connection that was up last.
    connection: u64,
    /// Whether the server is ours and takes several lines as one message.
    takes_several: bool,
    cursors: Cursors,
    in_flight: InFlight,
    /// On a network that is not ours: who is there of those who are waited for.
    addressees: Addressees,
    inquiries: Inquiries,
    troubles: Troubles,
    /// Lines whose authors get a notice on why they wait.
    patience: Patience,
    /// Strangers who were told that they may not prompt.
    strangers: Notified,
    /// Where the agent starts nothing until a person mentions it.
    stood_down: StoodDown,
    /// Whether the server gives its lines again.
    history: bool,
    /// Lines of a server that does not, which the store could not take yet.
    kept: VecDeque<Line>,
    /// Live lines that were words and no prompts, which a page of history may bring again.
    words: VecDeque<String>,
    /// How far people have read what was shown to them.
    pages: HashMap<String, show::Page>,
    /// The last time that owners were told of each open approval.
    reminded: HashMap<ApprovalNumber, Reminded>,
    /// The last time that owners were told again of each open change.
    changes_told: HashMap<ApprovalNumber, ToldAgain>,
    /// Where changes were shown beside their announcements.
    shown_changes: HashSet<(ApprovalNumber, String)>,
    /// When owners are to be told next of what is open.
    remind_at: Option<UnixMicros>,
    /// Where owners are.
    owners: Owners,
}

/// Why the chat task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChatEnd {
    /// It was stopped.
    Stopped,
    /// It was stopped before its places in history could be read: it carried nothing.
    NeverOpened,
    /// The link is gone.
    LinkGone,
}

enum Event {
    Link(Option<Box<LinkEvent>>),
    OutboxChanged,
    Asked(Inquiry),
    AnswerDue,
    Owed,
    Reminder,
    Tick,
    Stop,
}

/// Waits for `wait` by this clock, or forever without one. Cancel-safe.
async fn after(clock: &SharedClock, wait: Option<Duration>) {
    match wait {
        Some(wait) => clock::sleep(clock, wait).await,
        None => std::future::pending().await,
    }
}

impl Chat {
    pub(crate) fn new(deps: ChatDeps) -> Self {
        Self {
            stood_down: StoodDown::read(&deps.paths, &deps.agent),
            deps,
            up: false,
            connection: 0,
            takes_several: false,
            cursors: Cursors::default(),
            in_flight: InFlight::default(),
            addressees: Addressees::default(),
            inquiries: Inquiries::default(),
            troubles: Troubles::default(),
            patience: Patience::default(),
            strangers: Notified::default(),
            history: false,
            kept: VecDeque::new(),
            words: VecDeque::new(),
            pages: HashMap::new(),
            reminded: HashMap::new(),
            changes_told: HashMap::new(),
            shown_changes: HashSet::new(),
            remind_at: None,
            owners: Owners::default(),
        }
    }

    /// Carries until it is stopped or the link is gone. Not cancel-safe: a line that is being
    /// committed would be lost; stop it by the token.
    pub(crate) async fn run(
        mut self,
        (mut link, mut asked): (mpsc::Receiver<LinkEvent>, mpsc::Receiver<Inquiry>),
        mut tick: watch::Receiver<u64>,
        stop: CancellationToken,
    ) -> ChatEnd {
        while !self.load_cursors().await {
            tokio::select! {
                () = stop.cancelled() => return ChatEnd::NeverOpened,
                () = tokio::time::sleep(RETRY_EVERY) => {}
            }
        }
        self.deps.opened.cancel();
        let end = loop {
            let outbox = Arc::clone(&self.deps.outbox);
            let due = self.answer_due();
            let clock = SharedClock::clone(&self.deps.clock);
            let (answer_due, owed) = (after(&clock, due), after(&clock, self.owed_in()));
            let reminder = after(&clock, self.remind_in());
            let event = tokio::select! {
                event = link.recv() => Event::Link(event.map(Box::new)),
                Some(inquiry) = asked.recv() => Event::Asked(inquiry),
                () = answer_due => Event::AnswerDue,
                () = owed => Event::Owed,
                () = reminder => Event::Reminder,
                () = outbox.notified() => Event::OutboxChanged,
                Ok(()) = tick.changed() => Event::Tick,
                () = stop.cancelled() => Event::Stop,
            };
            match event {
                Event::Link(Some(event)) => self.link_event(*event).await,
                Event::OutboxChanged => {
                    self.notify_owners().await;
                    self.send_waiting().await;
                }
                Event::Asked(inquiry) => self.asked(inquiry).await,
                Event::AnswerDue => self.give_up_answers(),
                Event::Owed => self.give_what_is_owed().await,
                Event::Reminder => self.notify_owners().await,
                Event::Tick => {
                    self.take_kept().await;
                    self.keep_cursors().await;
                    self.retry_catch_up();
                    self.record_confirmed().await;
                    self.notify_owners().await;
                    self.notify_owners_of_changes().await;
                    self.look_for_addressees().await;
                    self.send_waiting().await;
                }
                Event::Link(None) => break ChatEnd::LinkGone,
                Event::Stop => break ChatEnd::Stopped,
            }
        };
        self.keep_cursors().await;
        end
    }

    async fn link_event(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Up { nick, caps, network, first, connection, .. } => {
                info!(nick, network, first, "on IRC");
                self.connection = connection;
                self.went_up(&nick, &caps).await;
            }
            LinkEvent::Down { why, retry_in } => {
                debug!(why, ?retry_in, "off IRC");
                self.went_down(&why).await;
            }
            LinkEvent::Joined { channel } => {
                self.entered(channel).await;
                self.send_waiting().await;
            }
            LinkEvent::JoinFailed { channel, numeric, why } => {
                self.room_refuses(&channel, numeric, &why).await;
                self.join_failed(channel, &why);
            }
            LinkEvent::Parted { channel, why } | LinkEvent::Kicked { channel, why, .. } => {
                info!(%channel, why, "no longer in the channel");
                self.left(channel).await;
            }
            LinkEvent::Members { channel, count } => self.counted(channel, count),
            LinkEvent::Line(line) => {
                self.spoke(&line);
                self.line(line).await;
            }
            LinkEvent::HistoryPage { target, lines, cursor, request, .. } => {
                if self.cursors.waits_for(&target, request) {
                    self.page(target, lines, cursor).await;
                }
            }
            LinkEvent::CaughtUp { target, request } => self.nothing_follows(&target, request).await,
            LinkEvent::CatchUpFailed { target, request, why } => {
                self.catch_up_failed((&target, request), &why);
            }
            LinkEvent::HistoryTargets { targets, more } => self.found_targets(targets, more),
            LinkEvent::HistoryTargetsFailed { why } => warn!(why, "cannot look for direct lines"),
            LinkEvent::Confirmed { key, msgid, at } => {
                self.confirmed(&key, Said { msgid, at }).await;
            }
            LinkEvent::Failed { key, why, numeric } => self.failed(&key, &why, numeric).await,
            LinkEvent::Unconfirmed { key } => self.in_flight.unconfirmed(&key),
            LinkEvent::NotSent { key } => self.in_flight.not_sent(&key),
            LinkEvent::NickProblem { using, trouble, why, .. } => {
                self.nick_trouble(trouble, using.as_deref(), &why).await;
            }
            LinkEvent::NickChanged { nick, wanted } => {
                info!(nick, wanted, "nick changed");
                if wanted {
                    self.nick_is_ours().await;
                }
            }
            LinkEvent::Other(message) => self.other(&message),
        }
    }

    fn other(&mut self, message: &Message) {
        self.showed(message);
        let commands = self.inquiries.heard(message);
        self.command_all(commands);
        if self.owners.is_asked() {
            // What waits to be told to them may be due now.
            self.deps.outbox.notify_one();
        }
    }

    async fn went_up(&mut self, nick: &str, caps: &[String]) {
        self.up = true;
        let has = |name: &str| caps.iter().any(|cap| cap == name);
        self.history = has(caps::CHATHISTORY);
        self.takes_several = self.deps.own && has(MULTILINE) && has(caps::BATCH);
        self.on_irc(nick).await;
        self.in_flight.clear();
        self.addressees.clear();
        self.find_targets();
        self.send_waiting().await;
    }

    async fn went_down(&mut self, why: &str) {
        self.off_irc(why).await;
        self.up = false;
        self.cursors.forget_progress();
        self.deps.joined.send_replace(HashSet::new());
        self.deps.kept_out.send_replace(HashSet::new());
        self.deps.members.send_replace(Counts::new());
        self.inquiries.down();
    }

    /// Tells the link; what does not fit is asked again at the next tick.
    fn command(&self, command: LinkCommand) -> bool {
        self.deps.link.try_send(command).is_ok()
    }

    async fn notify_loop(&self, incoming: Incoming) {
        let _ = self.deps.agent_loop.send(incoming).await;
    }
}
