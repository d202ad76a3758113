//! The hub's own client on IRC, and the sender of alerts (C11).
//!
//! The client has the nick `gangline` on the embedded server, under an account of its own, and
//! `<server>-gangline` elsewhere. It is in the alert channel only and posts notices; whoever writes to it is
//! told whom to write to ([`spoken_to`]). Start at [`Telling::begin`].

use std::{collections::VecDeque, pin::Pin, sync::Arc, time::Duration};

use gangline_alerts::{Plan, Posted, Room, Sender, Whose};
use gangline_core::{
    AgentName, Target, Tier,
    name::{ChannelName, Nick},
    split,
};
use gangline_irc::{
    client::{Address, LineKind, Link, LinkCommand, LinkConfig, LinkEvent, OtherNick, Say},
    server::store::HistoryStore,
};
use gangline_os::{
    CancellationToken, change_notice::ChangeNotice, clock::SharedClock, paths::Paths,
    secret::Secret, task::TaskGroup,
};
use gangline_store::{DeliveryRow, Store};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tracing::{info, warn};

use self::spoken_to::Asked;
use super::{HubError, HubOptions};
use crate::credentials::{self, SERVICE};

#[cfg(test)]
mod schedules;
mod spoken_to;
#[cfg(test)]
mod tests;

/// The file of the service's password.
const SECRET: &str = "service.secret";
/// How long the tasks here may take to end: a request may be under way.
const ENDS_WITHIN: Duration = Duration::from_secs(7);
/// Lines that wait to be posted. The sender has one under way at a time.
const POSTS_MAX: usize = 4;
/// The most lines that wait for a reply; further ones get none meanwhile.
const REPLIES_MAX: usize = 8;
/// Commands that wait in the link, and what it has told.
const COMMANDS_MAX: usize = 16;
const EVENTS_MAX: usize = 64;
/// How long a line waits for the server: shorter than a claim on a delivery lasts.
const POST_WITHIN: Duration = Duration::from_secs(30);
/// The pause after which the embedded server is tried again at first.
const OWN_BACKOFF_UNIT: Duration = Duration::from_millis(80);

/// What tells people of alerts, while the hub runs.
pub(super) struct Telling {
    plan: watch::Sender<Arc<Plan>>,
    stop: CancellationToken,
    tasks: TaskGroup,
}

impl Telling {
    /// Begins to send alerts, and to be on IRC for that. `login` is the service's password on the
    /// embedded server.
    pub(super) fn begin(
        options: &HubOptions,
        store: &Store,
        plan: Plan,
        login: Option<Secret>,
    ) -> Self {
        let (plan, planned) = watch::channel(Arc::new(plan));
        let stop = CancellationToken::new();
        let mut tasks = TaskGroup::new("alerts");
        let (posts, posted) = mpsc::channel(POSTS_MAX);
        if let Some(config) = link_config(options, login) {
            let me = format!("{}-{SERVICE}", options.name).parse().ok();
            let who = Who { me, store: store.clone(), clock: options.clock.clone() };
            tasks.spawn("service", serve((config, who), planned.clone(), posted, stop.clone()));
        }
        let raised = Arc::new(Notify::new());
        hear_raised(&mut tasks, options, &raised, &stop);
        let sender = Sender {
            store: store.clone(),
            clock: options.clock.clone(),
            plan: planned,
            whose: Whose::All,
            by: format!("hub {}", std::process::id()),
            room: Some(Arc::new(Poster { posts, clock: options.clock.clone() })),
            hub_runs: Box::new(|| true),
            raised,
        };
        let stopped = stop.clone();
        tasks.spawn("sender", async move {
            let end = sender.run(stopped).await;
            info!(?end, "the sender of alerts ended");
        });
        Self { plan, stop, tasks }
    }

    /// Follows a changed configuration.
    pub(super) fn change(&self, plan: Plan) {
        self.plan.send_replace(Arc::new(plan));
    }

    /// Ends: what is not sent is left to the daemons and to the next hub.
    pub(super) async fn end(self) {
        self.stop.cancel();
        self.tasks.stop(ENDS_WITHIN).await;
    }
}

/// Wakes the sender when a process has raised an alert.
fn hear_raised(
    tasks: &mut TaskGroup,
    options: &HubOptions,
    raised: &Arc<Notify>,
    stop: &CancellationToken,
) {
    let path = options.paths.change_notice(gangline_alerts::NOTICE);
    let notice = match ChangeNotice::bind(&path) {
        Ok(notice) => notice,
        Err(error) => {
            warn!(%error, "alerts are only looked for every few seconds");
            return;
        }
    };
    let (raised, stop) = (Arc::clone(raised), stop.clone());
    tasks.spawn("notices", async move {
        loop {
            tokio::select! {
                () = notice.notified() => raised.notify_one(),
                () = stop.cancelled() => return,
            }
        }
    });
}

/// Gives the hub's own client its account on the embedded server, and returns its password.
pub(super) async fn account(
    paths: &Paths,
    history: Option<&dyn HistoryStore>,
) -> Result<Option<Secret>, HubError> {
    let Some(history) = history else { return Ok(None) };
    let path = paths.state.join(SECRET);
    let secret =
        credentials::load_or_make(&path).map_err(|source| HubError::State { path, source })?;
    let hash = credentials::hash(&secret);
    crate::ircd::register(history, SERVICE, (Tier::Agent, hash)).await?;
    Ok(Some(secret))
}

fn link_config(options: &HubOptions, login: Option<Secret>) -> Option<LinkConfig> {
    let own = options.irc.is_some();
    let (address, nick) = match own {
        true => (Address::Own(options.paths.irc_socket()), SERVICE.to_owned()),
        false => {
            (Address::Tcp(options.irc_elsewhere.clone()), format!("{}-{SERVICE}", options.name))
        }
    };
    let nick: Nick = nick.parse().ok()?;
    let mut config = LinkConfig::new(address, nick, options.clock.clone());
    // Under another nick rather than not at all: its name may be too long for the server.
    config.other_nick = OtherNick::Speak;
    config.realname = "Gangline: it posts alerts; write to the agents".to_owned();
    config.sasl = match own {
        true => login.map(|password| (SERVICE.to_owned(), password)),
        false => options.login_elsewhere.clone(),
    };
    if own {
        config.timing.backoff_unit = OWN_BACKOFF_UNIT;
    }
    Some(config)
}

/// An alert to be posted: of several lines one after the other, since not every server takes them as
/// one message.
struct Post {
    key: String,
    lines: VecDeque<String>,
    /// How many of its lines the server has.
    said: usize,
    done: oneshot::Sender<Posted>,
}

impl Post {
    /// The server keeps one line of a key, however often it comes.
    fn line_key(&self) -> String {
        format!("{}.{}", self.key, self.said)
    }
}

/// The sender's end.
struct Poster {
    posts: mpsc::Sender<Post>,
    clock: SharedClock,
}

impl Room for Poster {
    fn post(&self, row: &DeliveryRow) -> Pin<Box<dyn Future<Output = Posted> + Send>> {
        let (done, posted) = oneshot::channel();
        let lines = split::redacted_lines(&row.text, |_| "…".to_owned()).lines;
        let lines = lines.into_iter().map(|line| line.text.into_string()).collect();
        let post = Post { key: format!("alert-{}", row.id), said: 0, lines, done };
        let (posts, clock) = (self.posts.clone(), self.clock.clone());
        let later = |why: &str| Posted::Later(why.to_owned());
        Box::pin(async move {
            let said = async {
                let ended = || later("the hub's IRC client has ended");
                match posts.send(post).await {
                    Ok(()) => posted.await.unwrap_or_else(|_| ended()),
                    Err(_) => ended(),
                }
            };
            let said = gangline_os::clock::within(&clock, POST_WITHIN, said).await;
            said.unwrap_or_else(|| later("the chat server has not answered"))
        })
    }
}

/// Who the hub's client is, and where it looks up what people ask it about.
#[derive(Clone)]
struct Who {
    /// The name that it is addressed by, also in short; none if the server has no name for an agent.
    me: Option<AgentName>,
    store: Store,
    clock: SharedClock,
}

/// The hub's client: its own state.
struct Service {
    commands: mpsc::Sender<LinkCommand>,
    who: Who,
    /// People who wait for a reply.
    asked: VecDeque<Asked>,
    /// Alerts that wait until we are in the channel.
    posts: VecDeque<Post>,
    /// The alert of which the server has not confirmed a line.
    under_way: Option<Post>,
    /// Where they go.
    channel: Option<ChannelName>,
    /// Whether we are there.
    is_in: bool,
    /// The number of the connection.
    connection: u64,
}

enum Event {
    Link(Option<Box<LinkEvent>>),
    Post(Option<Post>),
    Planned,
    Leave,
}

/// Is on IRC while there is an alert channel that the hub posts in, until `stop`.
async fn serve(
    (config, who): (LinkConfig, Who),
    mut plan: watch::Receiver<Arc<Plan>>,
    mut posts: mpsc::Receiver<Post>,
    stop: CancellationToken,
) {
    loop {
        let is_wanted = plan.wait_for(|plan| wanted(plan).is_some());
        tokio::select! {
            Ok(_) = is_wanted => {}
            () = stop.cancelled() => return,
            else => return,
        }
        let (commands, link_end) = mpsc::channel(COMMANDS_MAX);
        let (told, events) = mpsc::channel(EVENTS_MAX);
        let leaves = stop.child_token();
        let link = Link::run(config.clone(), link_end, told, leaves.clone());
        let service =
            Service::new(commands, who.clone()).run(&mut plan, events, &mut posts, leaves);
        let (end, ()) = tokio::join!(link, service);
        info!(?end, "the hub's IRC client ended");
    }
}

impl Service {
    fn new(commands: mpsc::Sender<LinkCommand>, who: Who) -> Self {
        Self {
            commands,
            who,
            asked: VecDeque::new(),
            posts: VecDeque::new(),
            under_way: None,
            channel: None,
            is_in: false,
            connection: 0,
        }
    }

    /// Posts until nobody wants that any more or `leaves` is set; then the link is to end.
    async fn run(
        mut self,
        plan: &mut watch::Receiver<Arc<Plan>>,
        mut events: mpsc::Receiver<LinkEvent>,
        posts: &mut mpsc::Receiver<Post>,
        leaves: CancellationToken,
    ) {
        loop {
            let wanted = wanted(&plan.borrow_and_update());
            if wanted.is_none() {
                leaves.cancel();
            }
            if wanted != self.channel {
                self.go(wanted).await;
            }
            let event = tokio::select! {
                event = events.recv() => Event::Link(event.map(Box::new)),
                post = posts.recv() => Event::Post(post),
                Ok(()) = plan.changed() => Event::Planned,
                () = leaves.cancelled() => Event::Leave,
            };
            match event {
                Event::Link(Some(event)) => self.heard(*event),
                Event::Post(Some(post)) => self.posts.push_back(post),
                Event::Planned => {}
                Event::Leave | Event::Post(None) => {
                    leaves.cancel();
                    // The link quits, and its events end with it.
                    while events.recv().await.is_some() {}
                    return;
                }
                Event::Link(None) => return,
            }
            self.say().await;
            self.reply().await;
        }
    }

    /// Leaves one channel for another.
    async fn go(&mut self, to: Option<ChannelName>) {
        let from = std::mem::replace(&mut self.channel, to.clone());
        self.is_in = false;
        if let Some(channel) = from {
            let why = "alerts go elsewhere now".to_owned();
            self.command(LinkCommand::Part { channel, why }).await;
        }
        if let Some(channel) = to {
            self.command(LinkCommand::Join(channel)).await;
        }
    }

    /// Says what waits, once we are in the channel and the server has what was said before.
    async fn say(&mut self) {
        while self.is_in
            && self.under_way.is_none()
            && let Some(channel) = self.channel.clone()
            && let Some(post) = self.posts.pop_front()
        {
            // Nobody waits for it any more.
            if post.done.is_closed() {
                continue;
            }
            let Some(text) = post.lines.front().cloned() else {
                tell(post.done, Posted::Taken);
                continue;
            };
            let say = Say {
                key: post.line_key(),
                target: Target::Channel(channel),
                text,
                further: Vec::new(),
                // A notice wakes no agent.
                kind: LineKind::Notice,
                reply_to: None,
                connection: Some(self.connection),
            };
            self.under_way = Some(post);
            self.command(LinkCommand::Say(say)).await;
        }
    }

    /// Replies to those who wrote to us. In a flood some get no reply: a link that is busy takes nothing until
    /// we have heard its events, and an alert needs room.
    async fn reply(&mut self) {
        while let Some(asked) = self.asked.pop_front() {
            if self.commands.capacity() <= COMMANDS_MAX / 2 {
                continue;
            }
            let say = Say {
                // Another one after each start of the hub: the server stores one line for each key.
                key: format!("reply-{:x}", self.who.clock.now().0),
                text: spoken_to::reply(&asked, &self.who.store).await,
                target: asked.to,
                further: Vec::new(),
                kind: LineKind::Notice,
                reply_to: None,
                connection: Some(self.connection),
            };
            self.command(LinkCommand::Say(say)).await;
        }
    }

    fn heard(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Line(line) if self.asked.len() < REPLIES_MAX => {
                let asked = self.who.me.as_ref().and_then(|me| spoken_to::addressed(&line, me));
                self.asked.extend(asked);
            }
            LinkEvent::Joined { channel } => self.is_in |= self.is_ours(&channel),
            LinkEvent::Parted { channel, .. } | LinkEvent::Kicked { channel, .. } => {
                self.is_in &= !self.is_ours(&channel);
            }
            LinkEvent::Down { why, .. } => {
                self.is_in = false;
                info!(why, "the hub's IRC client is not connected");
                self.all_later(&why);
            }
            LinkEvent::JoinFailed { channel, why, .. } => {
                warn!(%channel, why, "cannot join the alert channel");
                self.all_later(&format!("cannot join {channel}: {why}"));
            }
            LinkEvent::Confirmed { key, .. } => self.confirmed(&key),
            LinkEvent::Failed { key, why, .. } => self.done(&key, Posted::Refused(why)),
            LinkEvent::Unconfirmed { key } | LinkEvent::NotSent { key } => {
                self.done(&key, Posted::Later("the connection was lost".to_owned()));
            }
            LinkEvent::NickProblem { wanted, why, .. } => {
                warn!(%wanted, why, "the hub's IRC client cannot have its nick");
            }
            LinkEvent::Up { connection, .. } => self.connection = connection,
            LinkEvent::Members { .. }
            | LinkEvent::Line(_)
            | LinkEvent::HistoryPage { .. }
            | LinkEvent::CaughtUp { .. }
            | LinkEvent::CatchUpFailed { .. }
            | LinkEvent::HistoryTargets { .. }
            | LinkEvent::HistoryTargetsFailed { .. }
            | LinkEvent::NickChanged { .. }
            | LinkEvent::Other(_) => {}
        }
    }

    fn is_ours(&self, channel: &ChannelName) -> bool {
        self.channel.as_ref() == Some(channel)
    }

    /// The server has a line; the next one of the same alert is said first.
    fn confirmed(&mut self, key: &str) {
        let Some(mut post) = self.under_way.take_if(|post| post.line_key() == key) else { return };
        post.lines.pop_front();
        post.said += 1;
        self.posts.push_front(post);
    }

    fn done(&mut self, key: &str, posted: Posted) {
        if let Some(post) = self.under_way.take_if(|post| post.line_key() == key) {
            tell(post.done, posted);
        }
    }

    fn all_later(&mut self, why: &str) {
        for post in self.under_way.take().into_iter().chain(self.posts.drain(..)) {
            tell(post.done, Posted::Later(why.to_owned()));
        }
    }

    async fn command(&self, command: LinkCommand) {
        // The link has ended: then so do we.
        let _ = self.commands.send(command).await;
    }
}

/// Tells the sender, which may have given up waiting.
fn tell(done: oneshot::Sender<Posted>, posted: Posted) {
    let _ = done.send(posted);
}

/// Where the hub posts; also where agents post their own, for one whose daemon does not.
fn wanted(plan: &Plan) -> Option<ChannelName> {
    plan.channel.clone()
}
