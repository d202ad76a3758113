//! The hub's own client on IRC, and the sender of alerts (C11).
//!
//! The client has the nick `gangline` on the embedded server, under an account of its own, and
//! `<server>-gangline` elsewhere. It is in the alert channel only, posts notices, and answers nobody.
//! Start at [`Telling::begin`].

use std::{
    collections::{HashMap, VecDeque},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use gangline_alerts::{Plan, Posted, Room, Sender, Whose};
use gangline_core::{
    Redacted, Target, Tier,
    name::{ChannelName, Nick},
    split::{self, Joint},
};
use gangline_irc::{
    client::{Address, LineKind, Link, LinkCommand, LinkConfig, LinkEvent, Say},
    server::store::HistoryStore,
    wire::multiline::Follows,
};
use gangline_os::{
    CancellationToken, change_notice::ChangeNotice, clock::SharedClock, paths::Paths,
    secret::Secret, task::TaskGroup,
};
use gangline_store::{DeliveryRow, Store};
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tracing::{info, warn};

use super::{HubError, HubOptions};
use crate::credentials::{self, SERVICE};

/// The file of the service's password.
const SECRET: &str = "service.secret";
/// How long the tasks here may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(3);
/// Lines that wait to be posted. The sender has one under way at a time.
const POSTS_MAX: usize = 4;
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
            tasks.spawn("service", serve(config, planned.clone(), posted, stop.clone()));
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
    config.realname = "Gangline: alerts; nobody reads what you say to it".to_owned();
    config.sasl = login.map(|password| (SERVICE.to_owned(), password));
    if own {
        config.timing.backoff_unit = OWN_BACKOFF_UNIT;
    }
    Some(config)
}

/// A line to be posted.
struct Post {
    key: String,
    text: Redacted,
    done: oneshot::Sender<Posted>,
}

/// The sender's end.
struct Poster {
    posts: mpsc::Sender<Post>,
    clock: SharedClock,
}

impl Room for Poster {
    fn post(&self, row: &DeliveryRow) -> Pin<Box<dyn Future<Output = Posted> + Send>> {
        let (done, posted) = oneshot::channel();
        // The server keeps one line of a key, however often it comes.
        let post = Post { key: format!("alert-{}", row.id), text: row.text.clone(), done };
        let (posts, clock) = (self.posts.clone(), self.clock.clone());
        let later = |why: &str| Posted::Later(why.to_owned());
        Box::pin(async move {
            if posts.send(post).await.is_err() {
                return later("the hub's IRC client has ended");
            }
            match gangline_os::clock::within(&clock, POST_WITHIN, posted).await {
                Some(Ok(posted)) => posted,
                Some(Err(_)) => later("the hub's IRC client has ended"),
                None => later("the chat server has not answered"),
            }
        })
    }
}

/// The hub's client: its own state.
struct Service {
    commands: mpsc::Sender<LinkCommand>,
    /// Lines that wait until we are in the channel.
    posts: VecDeque<Post>,
    /// Lines that the server has not confirmed.
    under_way: HashMap<String, oneshot::Sender<Posted>>,
    joined: Option<ChannelName>,
}

enum Event {
    Link(Option<Box<LinkEvent>>),
    Post(Option<Post>),
    Planned,
    Leave,
}

/// Is on IRC while there is an alert channel that the hub posts in, until `stop`.
async fn serve(
    config: LinkConfig,
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
        let service = Service::new(commands).run(&mut plan, events, &mut posts, leaves);
        let (end, ()) = tokio::join!(link, service);
        info!(?end, "the hub's IRC client ended");
    }
}

impl Service {
    fn new(commands: mpsc::Sender<LinkCommand>) -> Self {
        Self { commands, posts: VecDeque::new(), under_way: HashMap::new(), joined: None }
    }

    /// Posts until nobody wants that any more or `leaves` is set; then the link is to end.
    async fn run(
        mut self,
        plan: &mut watch::Receiver<Arc<Plan>>,
        mut events: mpsc::Receiver<LinkEvent>,
        posts: &mut mpsc::Receiver<Post>,
        leaves: CancellationToken,
    ) {
        let mut channel = None;
        loop {
            let wanted = wanted(&plan.borrow_and_update());
            if wanted.is_none() {
                leaves.cancel();
            }
            if wanted != channel {
                self.go(channel.take(), wanted.clone()).await;
                channel = wanted;
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
                    // The link says goodbye by itself, and ends once it is heard no more.
                    while events.recv().await.is_some() {}
                    return;
                }
                Event::Link(None) => return,
            }
            self.say().await;
        }
    }

    /// Leaves one channel for another.
    async fn go(&mut self, from: Option<ChannelName>, to: Option<ChannelName>) {
        if let Some(channel) = from {
            let why = "alerts go elsewhere now".to_owned();
            self.command(LinkCommand::Part { channel, why }).await;
        }
        if let Some(channel) = to {
            self.command(LinkCommand::Join(channel)).await;
        }
    }

    /// Says what waits, once we are in the channel.
    async fn say(&mut self) {
        while let Some(channel) = self.joined.clone()
            && let Some(post) = self.posts.pop_front()
        {
            if post.done.is_closed() {
                continue;
            }
            let mut parts = split::redacted_lines(&post.text, |_| "…".to_owned()).lines.into_iter();
            let Some(first) = parts.next() else { continue };
            let follows = |joint: Joint| match joint {
                Joint::Anew => Follows::Anew,
                Joint::Word | Joint::Space => Follows::On,
            };
            let further =
                parts.map(|it| (follows(it.joint), it.text.into_string())).collect::<Vec<_>>();
            let say = Say {
                key: post.key.clone(),
                target: Target::Channel(channel),
                text: first.text.into_string(),
                further,
                // A notice wakes no agent.
                kind: LineKind::Notice,
                reply_to: None,
            };
            self.under_way.insert(post.key, post.done);
            self.command(LinkCommand::Say(say)).await;
        }
    }

    fn heard(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Joined { channel } => self.joined = Some(channel),
            LinkEvent::Parted { channel, .. } | LinkEvent::Kicked { channel, .. } => {
                self.joined.take_if(|joined| *joined == channel);
            }
            LinkEvent::Down { why, .. } => {
                self.joined = None;
                info!(why, "the hub's IRC client is not connected");
                for (_, done) in self.under_way.drain() {
                    tell(done, Posted::Later(why.clone()));
                }
            }
            LinkEvent::JoinFailed { channel, why, .. } => {
                warn!(%channel, why, "cannot join the alert channel");
                for post in self.posts.drain(..) {
                    tell(post.done, Posted::Later(format!("cannot join {channel}: {why}")));
                }
            }
            LinkEvent::Confirmed { key, .. } => self.done(&key, Posted::Taken),
            LinkEvent::Failed { key, why, .. } => self.done(&key, Posted::Refused(why)),
            LinkEvent::Unconfirmed { key } | LinkEvent::NotSent { key } => {
                self.done(&key, Posted::Later("the connection was lost".to_owned()));
            }
            LinkEvent::NickProblem { wanted, why, .. } => {
                warn!(%wanted, why, "the hub's IRC client cannot have its nick");
            }
            LinkEvent::Up { .. }
            | LinkEvent::Members { .. }
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

    fn done(&mut self, key: &str, posted: Posted) {
        if let Some(done) = self.under_way.remove(key) {
            tell(done, posted);
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

fn wanted(plan: &Plan) -> Option<ChannelName> {
    plan.channel.clone().filter(|_| !plan.as_agent)
}
