//! A chat task with a real store, and the other ends of its queues, for the tests of its parts.

use std::{collections::HashSet, fs, sync::Arc, time::Duration};

use gangline_core::{
    AgentName, Epoch, Principal, Tier,
    agent::{Agent, AgentOptions},
    redact::Redactor,
    trust,
};
use gangline_irc::{
    client::{Line, LineKind, LinkCommand, LinkEvent, TypingState},
    wire::Message,
};
use gangline_os::{CancellationToken, clock, paths::Paths};
use gangline_runtime::Capabilities;
use gangline_store::{OpenError, OpenOptions, Store, Tuning, Whose};
use tempfile::TempDir;
use tokio::sync::{Notify, mpsc, watch};

use super::{Chat, ChatDeps, ChatEnd, Counts, Said};
use crate::{
    bus::{Incoming, LINK_QUEUE},
    hand_clock::HandClock,
    rooms::RoomsCommand,
    showing::Showing,
};

/// The chat task of `oak-ada` on a server whose nicks are trusted, and the other ends of its
/// queues.
pub(super) struct Rig {
    pub(super) chat: Chat,
    pub(super) link: mpsc::Receiver<LinkCommand>,
    pub(super) rooms: mpsc::Receiver<RoomsCommand>,
    /// Where the store is.
    pub(super) folder: TempDir,
    pub(super) agent_loop: mpsc::Receiver<Incoming>,
    pub(super) showing: watch::Sender<Showing>,
    pub(super) clock: Arc<HandClock>,
}

pub(super) fn ada() -> AgentName {
    "oak-ada".parse().unwrap()
}

/// A store without a row. A test of many rooms copies it: to make the tables takes longer than what
/// is said in most of them.
pub(super) struct EmptyStore(TempDir);

impl EmptyStore {
    pub(super) async fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gangline.db");
        let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
        store.close().await.unwrap();
        Self(folder)
    }

    pub(super) fn copy(&self) -> TempDir {
        let copy = tempfile::tempdir().unwrap();
        for file in fs::read_dir(self.0.path()).unwrap().map(Result::unwrap) {
            fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
        }
        copy
    }
}

impl Rig {
    /// `own` says whether the server is that of the hub.
    pub(super) async fn open(own: bool) -> Self {
        Self::at(tempfile::tempdir().unwrap(), own).await
    }

    /// As [`Self::open`], with a store whose writes wait at most `lock_wait` for the database's lock.
    pub(super) async fn hasty(own: bool, lock_wait: Duration) -> Self {
        let mut rig = Self::open(own).await;
        // What takes long on a loaded machine, to make its tables and to open it, is done without haste.
        let path = rig.folder.path().join("gangline.db");
        let tuning = Tuning { lock_wait, ..Tuning::default() };
        rig.chat.deps.store = loop {
            let clock = Arc::<HandClock>::clone(&rig.clock);
            let options = OpenOptions { path: path.clone(), clock };
            match Store::open_tuned(options, tuning.clone()).await {
                Err(OpenError::Busy { .. }) => {}
                opened => break opened.unwrap(),
            }
        };
        rig
    }

    pub(super) async fn at(folder: TempDir, own: bool) -> Self {
        let path = folder.path().join("gangline.db");
        let manual = Arc::new(HandClock::default());
        // One clock for both: what was stored a while ago is a while ago.
        let options = OpenOptions { path, clock: Arc::<HandClock>::clone(&manual) };
        let store = Store::open(options).await.unwrap();
        let whose = Whose { runtime: "native", configured: "native" };
        store.begin_epoch(&ada(), (1, "test"), whose).await.unwrap();
        let view = Agent::new(AgentOptions::default()).view();
        let ((agent_loop, loop_end), (rooms, heard)) = (mpsc::channel(64), mpsc::channel(64));
        let (showing, shown) = watch::channel(Showing::new(view));
        let (sender, link) = mpsc::channel(LINK_QUEUE);
        let deps = ChatDeps {
            agent: ada(),
            epoch: Epoch(1),
            store,
            clock: Arc::<HandClock>::clone(&manual),
            redactor: Arc::new(Redactor::default()),
            network_id: "net".to_owned(),
            own,
            trust_nicks: true,
            home: HashSet::new(),
            alerts: None,
            everybody: vec![ada()],
            closed: CancellationToken::new(),
            opened: CancellationToken::new(),
            policy: trust::Policy::default(),
            agent_loop,
            link: sender,
            outbox: Arc::new(Notify::new()),
            alarm: Arc::default(),
            rescan: Arc::new(Notify::new()),
            showing: shown,
            can: Capabilities::default(),
            paths: Paths {
                config_file: "/c".into(),
                state: folder.path().into(),
                runtime: folder.path().into(),
            },
            reminders: folder.path().join("reminders"),
            bounds: gangline_core::reading::Bounds::default(),
            model_owner: "native".to_owned(),
            joined: watch::Sender::default(),
            wanted: watch::Sender::default(),
            kept_out: watch::Sender::default(),
            members: watch::Sender::new(Counts::new()),
            turns_released: 30,
            rooms,
        };
        let chat = Chat::new(deps);
        Self { chat, link, rooms: heard, folder, agent_loop: loop_end, showing, clock: manual }
    }
}

/// A chat task in `#lab` on its own server, and what it says there.
pub(super) struct Room {
    pub(super) rig: Rig,
    /// The accounts in each room, for the server's answers.
    pub(super) accounts: Vec<&'static str>,
    /// Whether what is said comes from the server's history.
    pub(super) from_history: bool,
    said: u64,
}

impl Room {
    pub(super) async fn open() -> Self {
        Self::of(Rig::open(true).await)
    }

    /// One of many in a test.
    pub(super) async fn with(empty: &EmptyStore) -> Self {
        Self::of(Rig::at(empty.copy(), true).await)
    }

    fn of(mut rig: Rig) -> Self {
        let room = || std::iter::once("#lab".parse().unwrap()).collect::<HashSet<_>>();
        rig.chat.deps.joined.send_replace(room());
        rig.chat.deps.wanted.send_replace(room());
        rig.chat.up = true;
        Self { rig, accounts: vec!["oak-ada"], from_history: false, said: 0 }
    }

    /// Somebody says something in a place; returns what the chat task says to that.
    pub(super) async fn says(
        &mut self,
        (nick, tier): (&str, Tier),
        to: &str,
        text: &str,
    ) -> Vec<String> {
        let account = if tier == Tier::Stranger { format!("~{nick}") } else { nick.to_owned() };
        self.says_as((nick, Principal { account, tier }), to, text).await
    }

    /// The same of somebody whose account has another name.
    pub(super) async fn says_as(
        &mut self,
        who: (&str, Principal),
        to: &str,
        text: &str,
    ) -> Vec<String> {
        self.says_by(LineKind::Privmsg, who, (to, text)).await
    }

    /// The same by a line of this kind.
    pub(super) async fn says_by(
        &mut self,
        kind: LineKind,
        (nick, principal): (&str, Principal),
        (to, text): (&str, &str),
    ) -> Vec<String> {
        self.said += 1;
        let line = Line {
            kind,
            target: to.parse().unwrap(),
            nick: nick.to_owned(),
            account: None,
            principal: Some(principal),
            msgid: Some(format!("msg{}", self.said)),
            server_time: None,
            cursor: None,
            text: text.to_owned(),
            gangline_id: None,
            from_history: self.from_history,
            reply_to: None,
            bot: false,
        };
        self.rig.chat.link_event(LinkEvent::Line(line)).await;
        self.heard().await
    }

    /// What is said next is what was said last, as history shows it.
    pub(super) fn repeats(&mut self) {
        self.said -= 1;
        self.from_history = true;
    }

    /// What the chat task has given to the link: lines as `target text`, and typing marks.
    pub(super) async fn heard(&mut self) -> Vec<String> {
        self.rig.chat.send_waiting().await;
        let mut texts = Vec::new();
        while let Ok(command) = self.rig.link.try_recv() {
            match command {
                LinkCommand::Say(say) => {
                    self.rig.chat.confirmed(&say.key, Said::default()).await;
                    texts.push(format!("{} {}", say.target, say.text));
                    self.rig.chat.send_waiting().await;
                }
                LinkCommand::Typing { target, state: TypingState::Active } => {
                    texts.push(format!("{target} is typing"));
                }
                LinkCommand::Raw(who) if who.command == "WHO" => {
                    let room = who.at(0).unwrap().to_owned();
                    for account in self.accounts.clone() {
                        self.server(&format!(":irc 354 oak-ada {account} {account}")).await;
                    }
                    self.server(&format!(":irc 315 oak-ada {room} :End of WHO list")).await;
                    self.rig.chat.notify_owners().await;
                    self.rig.chat.notify_owners_of_changes().await;
                    self.rig.chat.send_waiting().await;
                }
                other => panic!("{other:?}"),
            }
        }
        texts
    }

    async fn server(&mut self, line: &str) {
        let message = Message::parse(line).unwrap();
        self.rig.chat.link_event(LinkEvent::Other(message)).await;
    }

    /// Puts the clock forward; returns what is said to owners then.
    pub(super) async fn reminds(&mut self, after: Duration) -> Vec<String> {
        self.rig.clock.forward(after);
        self.rig.chat.notify_owners().await;
        self.rig.chat.notify_owners_of_changes().await;
        self.heard().await
    }

    /// Puts the clock forward, and has done what is due then.
    pub(super) async fn later(&mut self, by: Duration) -> Vec<String> {
        self.rig.clock.forward(by);
        while self.rig.chat.owed_in() == Some(Duration::ZERO) {
            self.rig.chat.give_what_is_owed().await;
        }
        self.heard().await
    }

    /// The texts of the messages that wait.
    pub(super) async fn prompts(&self) -> Vec<String> {
        let rows = self.rig.chat.pending().await.unwrap();
        rows.into_iter().map(|row| row.body.as_str().to_owned()).collect()
    }
}

/// Style, *Errors*: the loop says why it ended.
#[tokio::test]
async fn the_chat_task_says_why_it_ended() {
    let (stop, stopped) = (CancellationToken::new(), CancellationToken::new());
    stopped.cancel();
    // Why it ends that has this token, with a link that is there or gone.
    let end = async |rig: Rig, stop: &CancellationToken, link_is_there: bool| {
        let (link, events) = mpsc::channel(1);
        let (_asks, asked) = mpsc::channel(1);
        let (_ticks, tick) = watch::channel(0);
        let _link = link_is_there.then_some(link);
        rig.chat.run((events, asked), tick, stop.clone()).await
    };
    assert_eq!(end(Rig::open(true).await, &stopped, true).await, ChatEnd::Stopped);
    assert_eq!(end(Rig::open(true).await, &stop, false).await, ChatEnd::LinkGone);
    let closed = Rig::open(true).await;
    closed.chat.deps.store.close().await.unwrap();
    assert_eq!(end(closed, &stopped, true).await, ChatEnd::NeverOpened);
}
