//! What is to be posted is posted, whatever the order of losses and restarts.

use std::collections::{BTreeMap, BTreeSet};

use gangline_irc::client::Line;
use gangline_os::clock;
use gangline_store::OpenOptions;
use proptest::{prelude::*, test_runner::TestRunner};

use super::*;

/// Rounds in which all must have come to rest.
const ROUNDS: usize = 2000;

#[derive(Debug, Clone, Copy)]
enum Step {
    /// The sender has an alert of so many lines.
    Alert(usize),
    /// The sender waits no longer for the oldest that is under way.
    GiveUp,
    /// The sender posts again what was not taken.
    Again,
    /// The link takes a command.
    Take,
    /// The link sends its next line.
    Send,
    /// The server takes what was sent next.
    Serve,
    /// The link reads what the server sent next.
    Read,
    /// The client hears of an event of the link's.
    Hear,
    /// The connection is lost; the server has had so much of what was on its way.
    Lose(usize),
    Connect,
    Join,
    Kick,
    /// The hub is killed, and starts again.
    Kill(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1..4_usize).prop_map(Step::Alert),
        1 => Just(Step::GiveUp),
        3 => Just(Step::Again),
        12 => Just(Step::Take),
        12 => Just(Step::Send),
        12 => Just(Step::Serve),
        12 => Just(Step::Read),
        12 => Just(Step::Hear),
        2 => (0..3_usize).prop_map(Step::Lose),
        4 => Just(Step::Connect),
        6 => Just(Step::Join),
        1 => Just(Step::Kick),
        1 => (0..3_usize).prop_map(Step::Kill),
    ]
}

/// From the link to the server.
enum Sent {
    Say(Say),
    Join,
}

/// An alert as the sender knows it.
struct Alert {
    key: String,
    lines: usize,
    /// Who waits for it.
    posted: Option<oneshot::Receiver<Posted>>,
    taken: bool,
}

struct Sim {
    own: bool,
    service: Service,
    commands: mpsc::Receiver<LinkCommand>,
    alerts: Vec<Alert>,
    connection: u64,
    connected: bool,
    wants: bool,
    asked: bool,
    queue: VecDeque<Say>,
    under_way: VecDeque<String>,
    sent: VecDeque<Sent>,
    told: VecDeque<LinkEvent>,
    is_member: bool,
    said: Vec<String>,
    events: VecDeque<LinkEvent>,
}

fn channel() -> ChannelName {
    "#alerts".parse().unwrap()
}

async fn service(who: &Who) -> (Service, mpsc::Receiver<LinkCommand>) {
    let (commands, taken) = mpsc::channel(COMMANDS_MAX);
    let mut service = Service::new(commands, who.clone());
    service.go(Some(channel())).await;
    (service, taken)
}

impl Sim {
    async fn open(own: bool, store: Store) -> Self {
        let who = Who { me: None, store, clock: clock::system() };
        let (service, commands) = service(&who).await;
        Self {
            own,
            service,
            commands,
            alerts: Vec::new(),
            connection: 0,
            connected: false,
            wants: false,
            asked: false,
            queue: VecDeque::new(),
            under_way: VecDeque::new(),
            sent: VecDeque::new(),
            told: VecDeque::new(),
            is_member: false,
            said: Vec::new(),
            events: VecDeque::new(),
        }
    }

    async fn does(&mut self, step: Step) {
        match step {
            Step::Alert(lines) => {
                let key = format!("alert-{}", self.alerts.len() + 1);
                self.alerts.push(Alert { key, lines, posted: None, taken: false });
                let at = self.alerts.len() - 1;
                self.post(at);
            }
            Step::GiveUp => {
                let waiting = self.alerts.iter_mut().find(|it| it.posted.is_some());
                if let Some(alert) = waiting {
                    alert.posted = None;
                }
            }
            Step::Again => self.again(),
            Step::Take => self.take(),
            Step::Send => {
                if let Some(say) = self.queue.pop_front() {
                    self.under_way.push_back(say.key.clone());
                    self.sent.push_back(Sent::Say(say));
                }
            }
            Step::Serve => self.serve(),
            Step::Read => self.read(),
            Step::Hear => {
                if let Some(event) = self.events.pop_front() {
                    self.service.heard(event);
                }
            }
            Step::Lose(had) if self.connected => {
                self.is_cut(had);
                let under_way = self.under_way.drain(..);
                self.events.extend(under_way.map(|key| LinkEvent::Unconfirmed { key }));
                let queue = self.queue.drain(..);
                self.events.extend(queue.map(|say| LinkEvent::NotSent { key: say.key }));
                let (why, retry_in) = ("lost".to_owned(), Duration::ZERO);
                self.events.push_back(LinkEvent::Down { why, retry_in });
            }
            Step::Connect if !self.connected => self.connect(),
            Step::Join if self.connected && self.wants && !self.asked => {
                self.asked = true;
                self.sent.push_back(Sent::Join);
            }
            Step::Lose(_) | Step::Connect | Step::Join => {}
            Step::Kick => {
                if std::mem::take(&mut self.is_member) {
                    let (by, why) = ("boss".to_owned(), String::new());
                    self.told.push_back(LinkEvent::Kicked { channel: channel(), by, why });
                }
            }
            Step::Kill(had) => {
                self.is_cut(had);
                (self.queue, self.under_way) = (VecDeque::new(), VecDeque::new());
                self.events.clear();
                (self.connection, self.wants) = (0, false);
                (self.service, self.commands) = service(&self.service.who).await;
            }
        }
        self.service.say().await;
    }

    fn post(&mut self, at: usize) {
        let alert = &mut self.alerts[at];
        let (done, posted) = oneshot::channel();
        alert.posted = Some(posted);
        let lines = (0..alert.lines).map(|line| format!("{} {line}", alert.key)).collect();
        self.service.posts.push_back(Post { key: alert.key.clone(), said: 0, lines, done });
    }

    /// Looks at what became of each, and posts what was not taken.
    fn again(&mut self) {
        for at in 0..self.alerts.len() {
            let alert = &mut self.alerts[at];
            let answer = alert.posted.as_mut().map(oneshot::Receiver::try_recv);
            match answer {
                Some(Ok(Posted::Taken)) => (alert.taken, alert.posted) = (true, None),
                Some(Err(oneshot::error::TryRecvError::Empty)) => {}
                None if alert.taken => {}
                None | Some(Ok(_) | Err(oneshot::error::TryRecvError::Closed)) => self.post(at),
            }
        }
    }

    fn is_cut(&mut self, had: usize) {
        (0..had).for_each(|_| self.serve());
        (self.connected, self.asked, self.is_member) = (false, false, false);
        self.sent.clear();
        self.told.clear();
    }

    fn connect(&mut self) {
        self.connected = true;
        self.connection += 1;
        self.events.push_back(LinkEvent::Up {
            nick: SERVICE.to_owned(),
            caps: Vec::new(),
            network: "oak".to_owned(),
            own_server: self.own,
            first: false,
            connection: self.connection,
        });
    }

    fn take(&mut self) {
        match self.commands.try_recv() {
            Ok(LinkCommand::Say(say)) => {
                let is_old = say.connection.is_some_and(|it| it != self.connection);
                let known = self.queue.iter().any(|it| it.key == say.key)
                    || self.under_way.contains(&say.key);
                match (is_old || known, self.connected) {
                    (true, _) => {}
                    (false, true) => self.queue.push_back(say),
                    (false, false) => self.events.push_back(LinkEvent::NotSent { key: say.key }),
                }
            }
            Ok(LinkCommand::Join(_)) => self.wants = true,
            Ok(_) | Err(_) => {}
        }
    }

    fn serve(&mut self) {
        match self.sent.pop_front() {
            None => {}
            Some(Sent::Join) => {
                self.is_member = true;
                self.told.push_back(LinkEvent::Joined { channel: channel() });
            }
            Some(Sent::Say(Say { key, .. })) if !self.is_member => {
                let (why, numeric) = ("cannot send".to_owned(), Some(404));
                self.told.push_back(LinkEvent::Failed { key, why, numeric });
            }
            Some(Sent::Say(Say { key, .. })) => {
                if !self.own || !self.said.contains(&key) {
                    self.said.push(key.clone());
                }
                self.told.push_back(LinkEvent::Confirmed { key, msgid: None, at: None });
            }
        }
    }

    fn read(&mut self) {
        let Some(event) = self.told.pop_front() else { return };
        match &event {
            LinkEvent::Confirmed { key, .. } | LinkEvent::Failed { key, .. } => {
                self.under_way.retain(|it| it != key);
            }
            LinkEvent::Kicked { .. } => {
                self.asked = false;
                let queue = self.queue.drain(..);
                self.events.extend(queue.map(|say| LinkEvent::NotSent { key: say.key }));
            }
            _ => {}
        }
        self.events.push_back(event);
    }

    /// Lets all come to rest, with a connection that holds.
    async fn rests(&mut self) {
        for _ in 0..ROUNDS {
            let link = [Step::Connect, Step::Take, Step::Join, Step::Send, Step::Serve, Step::Read];
            for step in link.into_iter().chain([Step::Hear, Step::Again]) {
                self.does(step).await;
            }
            if self.alerts.iter().all(|alert| alert.taken) {
                return;
            }
        }
        let waits = self.alerts.iter().filter(|alert| !alert.taken);
        panic!("these wait for ever: {:?}", waits.map(|it| &it.key).collect::<Vec<_>>());
    }

    fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut first: BTreeMap<&str, usize> = BTreeMap::new();
        let mut twice: BTreeSet<&str> = BTreeSet::new();
        for (at, key) in self.said.iter().enumerate() {
            if first.insert(key, at).is_some_and(|before| before != at) {
                twice.insert(key);
            }
        }
        if self.own {
            faults.extend(twice.iter().map(|key| format!("{key} is there twice")));
        }
        for alert in &self.alerts {
            let keys = (0..alert.lines).map(|line| format!("{}.{line}", alert.key));
            let places: Vec<Option<&usize>> = keys.map(|key| first.get(key.as_str())).collect();
            if places.contains(&None) {
                faults.push(format!("{} is not there whole", alert.key));
            }
            if self.own && !places.is_sorted() {
                faults.push(format!("{} is out of order", alert.key));
            }
        }
        faults
    }
}

/// C11: each alert is there whole, on our own server once, and none waits for ever.
#[test]
fn each_alert_is_posted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gangline.db");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let opened = Store::open(OpenOptions { path, clock: clock::system() });
    let store = runtime.block_on(opened).unwrap();
    let config =
        ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() };
    let schedules = (any::<bool>(), prop::collection::vec(step(), 1..200));
    let each = |(own, steps)| {
        let faults = runtime.block_on(async {
            let mut sim = Sim::open(own, store.clone()).await;
            for step in steps {
                sim.does(step).await;
            }
            sim.rests().await;
            sim.faults()
        });
        prop_assert_eq!(faults, [""; 0]);
        Ok(())
    };
    TestRunner::new(config).run(&schedules, each).unwrap();
}

/// Who writes to the client without end does not stop it: an alert is posted all the same.
#[tokio::test]
async fn a_flood_of_questions_holds_up_no_alert() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gangline.db");
    let store = Store::open(OpenOptions { path, clock: clock::system() }).await.unwrap();
    let me = "oak-gangline".parse().ok();
    let (mut service, mut commands) = service(&Who { me, store, clock: clock::system() }).await;
    let asked = Line {
        kind: LineKind::Privmsg,
        target: SERVICE.parse().unwrap(),
        nick: "boss".to_owned(),
        account: None,
        principal: None,
        msgid: None,
        server_time: None,
        cursor: None,
        text: "why?".to_owned(),
        gangline_id: None,
        from_history: false,
        reply_to: None,
        bot: false,
    };
    service.heard(LinkEvent::Joined { channel: channel() });
    let (done, _posted) = oneshot::channel();
    let all = async {
        for _ in 0..3 * COMMANDS_MAX {
            service.heard(LinkEvent::Line(asked.clone()));
            service.reply().await;
        }
        service.posts.push_back(Post {
            key: "alert-1".to_owned(),
            lines: ["x".to_owned()].into(),
            said: 0,
            done,
        });
        service.say().await;
    };
    tokio::time::timeout(Duration::from_secs(20), all).await.expect("it waits for the link");
    let said = std::iter::from_fn(|| commands.try_recv().ok());
    let said =
        said.filter_map(|it| if let LinkCommand::Say(say) = it { Some(say.key) } else { None });
    let said: Vec<String> = said.collect();
    assert_eq!(said.last().map(String::as_str), Some("alert-1.0"));
    assert!(said.len() > 1, "some get a reply");
}
