//! Approvals.

use gangline_core::{
    ApprovalNumber, Epoch, MessageId, MessageState,
    approval::{ApprovalState, Decision, view::Extent},
    hook::WebhookEvent,
    redact::Redacted,
    rule::{Form, Offer, Subject},
};
use gangline_store::{
    Announce, DecideError, Entry, EventQuery, LineKind, NewAlert, OpenApproval, RULES_MAX, Ruling,
    Said, Store, Stored, WithdrawApproval,
};

use crate::support::*;

/// Returns what the log says of rules.
async fn recorded(daemon: &Daemon) -> Vec<String> {
    let page = daemon.store.events(EventQuery { agent: Some(ada()), ..EventQuery::default() });
    let notices = page.await.unwrap().events.into_iter().filter(|it| it.kind == "notice");
    let notices = notices.map(|it| serde_json::from_str(it.payload.as_str()).unwrap());
    let text = |it: serde_json::Value| {
        (it["code"] == "rule").then(|| it["text"].as_str().unwrap().to_owned())
    };
    notices.filter_map(text).collect()
}

/// A daemon whose turn works on one message.
struct Daemon {
    store: Store,
    epoch: Epoch,
    turns: i64,
    message: MessageId,
}

impl Daemon {
    async fn start(fixture: &Fixture) -> Self {
        let store = fixture.open().await;
        let message = store.accept(keyed(&ada(), "the message")).await.unwrap().id;
        let epoch = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
        Self { store, epoch, turns: 0, message }
    }

    fn turn(&self) -> gangline_core::TurnId {
        turn(self.epoch, self.turns)
    }

    async fn take(&mut self) {
        self.turns += 1;
        let taken = self.store.take(take(&ada(), self.turn(), &[self.message])).await.unwrap();
        assert_eq!(taken.attempts.len(), 1);
    }

    async fn ask(&self) -> gangline_store::OpenedApproval {
        self.store.open_approval(ask(&ada(), self.turn(), self.message)).await.unwrap()
    }

    /// Dies, and starts again with what a start does.
    async fn restart(&mut self) -> Vec<ApprovalNumber> {
        self.epoch = self.store.begin_epoch(&ada(), (2, ""), claude()).await.unwrap().epoch;
        self.turns = 0;
        let void = self.store.void_older(&ada(), self.epoch).await.unwrap();
        for lost in self.store.open_turns(&ada(), self.epoch).await.unwrap() {
            let back = settle(self.message, MessageState::Accepted);
            self.store.end_turn(end(&ada(), lost.turn.turn, vec![back])).await.unwrap();
        }
        void
    }

    async fn state(&self, number: ApprovalNumber) -> ApprovalState {
        self.store.approval(number).await.unwrap().unwrap().state
    }

    async fn allow(&self, number: ApprovalNumber) -> Result<bool, DecideError> {
        let decided = self.store.decide(number, rules(Decision::Allow)).await?;
        Ok(decided.for_next_attempt)
    }
}

pub(crate) async fn a_request_is_asked_once_and_announced_with_its_number(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let announce = announce(&ada(), "announce", "#general");
    let ask =
        OpenApproval { announce: Some(announce), ..ask(&ada(), daemon.turn(), daemon.message) };
    let first = daemon.store.open_approval(ask.clone()).await.unwrap();
    let again = daemon.store.open_approval(ask).await.unwrap();
    assert_eq!((first.number, first.reopened), (again.number, false));
    assert_eq!((again.outbox, again.reopened), (first.outbox, true));
    let lines = daemon.store.outbox_pending(&ada(), 9).await.unwrap();
    let number = first.number;
    let said = format!("approval {number}: echo {{number}}, say yes {number}");
    assert_eq!((lines.len(), lines[0].body.as_str()), (1, said.as_str()));
    let places = daemon.store.approval_places(number).await.unwrap();
    assert_eq!((places.len(), places[0].heard_at), (1, None), "it is not said yet");
    let told = Some("12:00".to_owned());
    let said = Said { at: told.clone(), msgid: Some("msgid".to_owned()) };
    assert!(daemon.store.confirm(&[lines[0].id], said).await.unwrap());
    let again = Said { at: Some("13:00".to_owned()), msgid: None };
    assert!(!daemon.store.confirm(&[lines[0].id], again).await.unwrap());
    let places = daemon.store.approval_places(number).await.unwrap();
    assert_eq!((places.len(), &places[0].told_at, places[0].extent), (1, &told, Extent::Whole));
    assert_eq!((places[0].place.as_str(), places[0].heard_at.is_some()), ("#general", true));
    let open = daemon.store.approvals(Some(&ada()), true).await.unwrap();
    assert_eq!((open.len(), open[0].announced_at.as_deref()), (1, Some("12:00")));
    assert_eq!(daemon.store.approvals(None, true).await.unwrap(), open);
    assert_eq!(daemon.store.approvals(Some(&bob()), false).await.unwrap(), []);
}

fn at(told: &str) -> Said {
    Said { at: Some(told.to_owned()), msgid: None }
}

/// Only when its last line is out, and in the commit that says so.
pub(crate) async fn an_approval_is_announced_with_the_last_line_that_is_confirmed(
    fixture: &Fixture,
) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let mut long = announce(&ada(), "long", "#general");
    long.send.lines = vec![text("the head").into(), text("the tail").into()];
    let base = ask(&ada(), daemon.turn(), daemon.message);
    let number =
        daemon.store.open_approval(OpenApproval { announce: Some(long), ..base }).await.unwrap();
    let number = number.number;
    let lines = daemon.store.outbox_pending(&ada(), 9).await.unwrap();
    for (line, heard) in [(0, false), (1, true)] {
        daemon.store.confirm(&[lines[line].id], at(&format!("12:0{line}"))).await.unwrap();
        let places = daemon.store.approval_places(number).await.unwrap();
        assert_eq!(places[0].heard_at.is_some(), heard, "line {line}");
        assert_eq!(places[0].told_at.as_deref(), heard.then_some("12:01"));
    }
}

/// Announcing an approval again in the same place keeps what was recorded of the first announcement,
/// unless only the new line shows all of it.
pub(crate) async fn a_reminder_takes_nothing_back_that_was_heard(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let said = |key: &str, extent| Announce { extent, ..announce(&ada(), key, "#general") };
    let base = ask(&ada(), daemon.turn(), daemon.message);
    let first = said("first", Extent::Cut);
    let asked = OpenApproval { announce: Some(first), ..base };
    let number = daemon.store.open_approval(asked).await.unwrap().number;
    let place = async || {
        let places = daemon.store.approval_places(number).await.unwrap();
        let [place] = &places[..] else { panic!("{places:?}") };
        (place.told_at.clone(), place.heard_at.is_some(), place.extent)
    };
    let confirm = async |told: &str| {
        let lines = daemon.store.outbox_pending(&ada(), 9).await.unwrap();
        daemon.store.confirm(&[lines[0].id], at(told)).await.unwrap();
    };
    let told = |at: &str| Some(at.to_owned());
    // Not heard yet: the second line takes its place.
    daemon.store.announce(number, said("second", Extent::Cut)).await.unwrap();
    confirm("12:00").await;
    assert_eq!(place().await, (None, false, Extent::Cut));
    confirm("12:01").await;
    assert_eq!(place().await, (told("12:01"), true, Extent::Cut));
    // It shows more: a bare answer must come after it.
    daemon.store.announce(number, said("whole", Extent::Whole)).await.unwrap();
    assert_eq!(place().await, (None, false, Extent::Whole));
    confirm("12:02").await;
    // These show no more.
    for extent in [Extent::Cut, Extent::Whole] {
        let key = format!("again {extent:?}");
        daemon.store.announce(number, said(&key, extent)).await.unwrap();
        assert_eq!(place().await, (told("12:02"), true, Extent::Whole), "{key}, not said yet");
        confirm("12:03").await;
        assert_eq!(place().await, (told("12:02"), true, Extent::Whole), "{key}");
    }
}

pub(crate) async fn a_decision_reaches_the_runtime_once(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let number = daemon.ask().await.number;
    let store = &daemon.store;
    assert_eq!(store.undelivered_decisions(&ada(), daemon.epoch).await.unwrap(), []);
    let note = Some(text("not today"));
    let ruling = Ruling { note: note.clone(), ..rules(Decision::Deny) };
    let decided = store.decide(number, ruling).await.unwrap();
    assert_eq!((decided.agent, decided.for_next_attempt), (ada(), false));
    let waiting = store.undelivered_decisions(&ada(), daemon.epoch).await.unwrap();
    assert_eq!((waiting[0].state, &waiting[0].note), (ApprovalState::Denied, &note));
    assert_eq!(waiting[0].decided_by, Some(owner()));
    assert_eq!(waiting[0].decided_as.as_deref(), Some("ori"));
    alone(store, Entry::Delivered(number)).await.unwrap();
    assert_eq!(store.undelivered_decisions(&ada(), daemon.epoch).await.unwrap(), []);
    assert_eq!(store.approvals(None, true).await.unwrap(), []);
}

pub(crate) async fn a_decision_is_said_once_wherever_it_was_announced(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let base = ask(&ada(), daemon.turn(), daemon.message);
    let asked = OpenApproval { announce: Some(announce(&ada(), "a1", "#general")), ..base };
    let store = &daemon.store;
    let number = store.open_approval(asked).await.unwrap().number;
    let owners = announce(&ada(), "a2", "owner");
    assert!(!store.announce(number, owners.clone()).await.unwrap().repeated);
    assert!(store.announce(number, owners).await.unwrap().repeated, "the same key");
    let ruling = Ruling { say: Some(text("allowed by ori")), ..rules(Decision::Allow) };
    store.decide(number, ruling.clone()).await.unwrap();
    assert!(store.decide(number, ruling).await.is_err(), "it is decided");
    let late = store.announce(number, announce(&ada(), "a3", "owner")).await.unwrap();
    assert_eq!(late.outbox, [], "nobody is asked to decide what is decided");
    let said = store.outbox_pending(&ada(), 9).await.unwrap();
    let said: Vec<_> = said
        .iter()
        .filter(|row| row.kind == LineKind::Notice)
        .map(|row| (row.target.as_str(), row.body.as_str()))
        .collect();
    assert_eq!(said, [("#general", "allowed by ori"), ("owner", "allowed by ori")]);
}

pub(crate) async fn a_closed_approval_takes_no_second_decision(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let number = daemon.ask().await.number;
    daemon.allow(number).await.unwrap();
    let again = daemon.store.decide(number, rules(Decision::Deny)).await;
    let closed = ApprovalState::Allowed;
    assert!(matches!(again, Err(DecideError::Closed { state, .. }) if state == closed));
    let unknown = daemon.allow(ApprovalNumber(99)).await;
    assert!(matches!(unknown, Err(DecideError::Unknown(_))));
}

pub(crate) async fn the_end_of_a_turn_withdraws_what_is_open(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let number = daemon.ask().await.number;
    let mut over = end(&ada(), daemon.turn(), vec![settle(daemon.message, MessageState::Failed)]);
    over.withdraw_approvals = Some("drained".to_owned());
    assert_eq!(daemon.store.end_turn(over).await.unwrap().withdrawn, [number]);
    let row = daemon.store.approval(number).await.unwrap().unwrap();
    assert_eq!((row.state, row.note), (ApprovalState::Withdrawn, Some(text("drained"))));
    let late = daemon.allow(number).await;
    let closed = ApprovalState::Withdrawn;
    assert!(matches!(late, Err(DecideError::Closed { state, .. }) if state == closed));
    let after = daemon.store.open_approval(ask(&ada(), daemon.turn(), daemon.message)).await;
    assert!(after.is_err(), "the turn has ended");
}

pub(crate) async fn a_runtime_takes_one_back_and_those_who_were_asked_are_told(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let number = daemon.ask().await.number;
    let (store, turn) = (&daemon.store, daemon.turn());
    let back = withdraw(&ada(), turn, &ask(&ada(), turn, daemon.message).request);
    let other = WithdrawApproval { request: "another".to_owned(), ..back.clone() };
    assert_eq!(store.withdraw_approval(other).await.unwrap(), None);
    assert_eq!(daemon.state(number).await, ApprovalState::Open);
    assert_eq!(store.withdraw_approval(back.clone()).await.unwrap(), Some(number));
    assert_eq!(store.withdraw_approval(back.clone()).await.unwrap(), None, "once");
    let row = store.approval(number).await.unwrap().unwrap();
    assert_eq!((row.state, row.note), (ApprovalState::Withdrawn, Some(text("taken back"))));
    let said = store.outbox_pending(&ada(), 9).await.unwrap();
    let lines: Vec<&str> = said.iter().map(|row| row.body.as_str()).collect();
    assert_eq!(lines, [format!("{number} is gone")]);
    let late = daemon.allow(number).await;
    assert!(matches!(late, Err(DecideError::Closed { .. })));
    // Asked anew it has the same number; what is decided is not taken back.
    assert_eq!(daemon.ask().await.number, number);
    assert_eq!(daemon.state(number).await, ApprovalState::Open);
    daemon.allow(number).await.unwrap();
    assert_eq!(daemon.store.withdraw_approval(back).await.unwrap(), None);
    assert_eq!(daemon.state(number).await, ApprovalState::Allowed);
}

pub(crate) async fn a_re_ask_opens_the_same_number(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let base = ask(&ada(), daemon.turn(), daemon.message);
    let announced = OpenApproval { announce: Some(announce(&ada(), "a1", "#general")), ..base };
    let number = daemon.store.open_approval(announced).await.unwrap().number;
    let line = daemon.store.outbox_pending(&ada(), 9).await.unwrap()[0].id;
    daemon.store.confirm(&[line], at("12:00")).await.unwrap();
    assert_eq!(daemon.restart().await, [number]);
    assert_eq!(daemon.state(number).await, ApprovalState::Void);
    daemon.take().await;
    let again = daemon.ask().await;
    assert_eq!((again.number, again.decided, again.reopened), (number, None, true));
    let row = daemon.store.approval(number).await.unwrap().unwrap();
    assert_eq!((row.state, row.turn), (ApprovalState::Open, daemon.turn()));
    assert_eq!(row.announced_at, None, "a bare yes must follow the new announcement");
    assert_eq!(daemon.store.approval_places(number).await.unwrap(), []);
    let back = settle(daemon.message, MessageState::Accepted);
    daemon.store.end_turn(end(&ada(), daemon.turn(), vec![back])).await.unwrap();
    daemon.take().await;
    assert_eq!(daemon.ask().await.number, number, "a withdrawn one is opened again, too");
}

pub(crate) async fn a_decision_on_a_void_approval_counts_for_the_next_attempt(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let number = daemon.ask().await.number;
    daemon.restart().await;
    assert!(daemon.allow(number).await.unwrap());
    assert_eq!(daemon.state(number).await, ApprovalState::Void);
    daemon.take().await;
    let again = daemon.ask().await;
    assert_eq!((again.number, again.decided), (number, Some(Decision::Allow)));
    assert_eq!(daemon.state(number).await, ApprovalState::Allowed);
    assert_eq!(again.outbox, [], "what is decided is not announced");
}

pub(crate) async fn a_decision_on_a_void_approval_is_forgotten_one_attempt_later(
    fixture: &Fixture,
) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let number = daemon.ask().await.number;
    daemon.restart().await;
    daemon.allow(number).await.unwrap();
    daemon.take().await;
    let back = settle(daemon.message, MessageState::Accepted);
    daemon.store.end_turn(end(&ada(), daemon.turn(), vec![back])).await.unwrap();
    daemon.take().await;
    let again = daemon.ask().await;
    assert_eq!((again.number, again.decided), (number, None));
    let row = daemon.store.approval(number).await.unwrap().unwrap();
    assert_eq!((row.state, row.decision), (ApprovalState::Open, None));
}

pub(crate) async fn a_decision_that_missed_its_runtime_is_kept(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let number = daemon.ask().await.number;
    daemon.allow(number).await.unwrap();
    assert_eq!(daemon.restart().await, [number]);
    daemon.take().await;
    assert_eq!(daemon.ask().await.decided, Some(Decision::Allow));
    alone(&daemon.store, Entry::Delivered(number)).await.unwrap();
    assert_eq!(daemon.restart().await, [], "what the runtime has is over");
    daemon.take().await;
    assert_ne!(daemon.ask().await.number, number);
}

pub(crate) async fn another_question_gets_another_number(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let base = ask(&ada(), daemon.turn(), daemon.message);
    let number = daemon.ask().await.number;
    daemon.restart().await;
    daemon.allow(number).await.unwrap();
    daemon.take().await;
    let base = OpenApproval { turn: daemon.turn(), ..base };
    let others = [
        OpenApproval { args_hash: "other".to_owned(), request: "r1".to_owned(), ..base.clone() },
        OpenApproval { tool: "Write".to_owned(), request: "r2".to_owned(), ..base.clone() },
        OpenApproval { message: None, request: "r3".to_owned(), ..base },
    ];
    for other in others {
        let opened = daemon.store.open_approval(other).await.unwrap();
        assert!(opened.number > number && opened.decided.is_none(), "{opened:?}");
    }
}

fn forms(texts: &[&str]) -> Offer {
    let command = |text: &&str| Form::Command(text.split(' ').map(str::to_owned).collect());
    let subject = Subject::Forms(texts.iter().map(command).collect());
    Offer { tool: "Bash".to_owned(), directory: "/w".to_owned(), subject }
}

fn always() -> Ruling {
    Ruling {
        decision: Decision::Allow,
        by: owner(),
        known_as: "ori".to_owned(),
        note: None,
        say: None,
    }
}

impl Daemon {
    async fn offers(&self, request: &str, offer: Offer) -> gangline_store::OpenedApproval {
        let announce = None;
        let args_hash = request.to_owned();
        let ask = ask(&ada(), self.turn(), self.message);
        let request = request.to_owned();
        let ask = OpenApproval { request, args_hash, offer: Some(offer), announce, ..ask };
        self.store.open_approval(ask).await.unwrap()
    }
}

/// What was allowed for good is allowed in the commit that asks, under the rules' numbers; all of it
/// needs a rule, and what is removed is asked about again.
pub(crate) async fn what_was_allowed_for_good_is_not_asked_again(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let first = daemon.offers("one", forms(&["npm test", "ls"])).await;
    assert_eq!(first.decided, None);
    let offered = daemon.store.offer(first.number).await.unwrap();
    assert_eq!(offered, Some(forms(&["npm test", "ls"])));
    let done = daemon.store.decide_always(first.number, always()).await.unwrap();
    let Stored::Rules(rules) = done.stored else { panic!("{:?}", done.stored) };
    let shown: Vec<String> = rules.iter().map(|row| row.rule.to_string()).collect();
    assert_eq!(shown, ["Bash `npm test` in /w", "Bash `ls` in /w"]);
    assert_eq!((&rules[0].made_by, rules[0].approval), (&owner(), Some(first.number)));
    assert_eq!(daemon.state(first.number).await, ApprovalState::Allowed);

    let second = daemon.offers("two", forms(&["ls"])).await;
    assert_eq!(second.decided, Some(Decision::Allow));
    let row = daemon.store.approval(second.number).await.unwrap().unwrap();
    let by = row.decided_by.map(|by| by.account);
    let number = rules[1].rule.number;
    assert_eq!((row.state, by), (ApprovalState::Allowed, Some(format!("rule {number}"))));
    assert_eq!(daemon.offers("three", forms(&["ls", "rm x"])).await.decided, None);
    // Another agent's request is not covered.
    let store = &daemon.store;
    let other = store.accept(keyed(&bob(), "another")).await.unwrap().id;
    let epoch = store.begin_epoch(&bob(), (1, ""), claude()).await.unwrap().epoch;
    store.take(take(&bob(), turn(epoch, 1), &[other])).await.unwrap();
    let offer = Some(forms(&["ls"]));
    let asks = OpenApproval { offer, ..ask(&bob(), turn(epoch, 1), other) };
    assert_eq!(store.open_approval(asks).await.unwrap().decided, None);
    let elsewhere = Offer { directory: "/".to_owned(), ..forms(&["ls"]) };
    assert_eq!(daemon.offers("four", elsewhere).await.decided, None);

    let removed = daemon.store.remove_rule(number, "ori").await.unwrap();
    assert_eq!(removed.map(|row| row.rule.number), Some(number));
    // Whichever surface took the word: the log says what came of it.
    let by = &rules[0].made_as;
    assert_eq!(
        recorded(&daemon).await,
        [
            format!("rule {} is stored by {by}: Bash `npm test` in /w", rules[0].rule.number),
            format!("rule {number} is stored by {by}: Bash `ls` in /w"),
            format!("rule {number} is removed by ori: Bash `ls` in /w"),
        ]
    );
    assert_eq!(daemon.store.remove_rule(number, "ori").await.unwrap(), None);
    assert_eq!(daemon.offers("five", forms(&["ls"])).await.decided, None);
    let left = daemon.store.rules(Some(&ada())).await.unwrap();
    assert_eq!(left.iter().map(|row| row.rule.number).collect::<Vec<_>>(), [rules[0].rule.number]);
    assert_eq!(daemon.store.rules(Some(&bob())).await.unwrap(), []);
}

/// A rule that would not be made today is kept with the reason and allows nothing; an alert names it once.
/// Where it holds again, it is made anew.
pub(crate) async fn a_void_rule_is_kept_and_allows_nothing(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let first = daemon.offers("one", forms(&["npm test", "ls"])).await.number;
    daemon.store.decide_always(first, always()).await.unwrap();
    assert_eq!(daemon.store.void_rules(&ada(), Vec::new()).await.unwrap(), []);
    let found = vec![(2, "it runs commands".to_owned())];
    let void = daemon.store.void_rules(&ada(), found).await.unwrap();
    let named: Vec<_> = void.iter().map(|row| (row.rule.number, row.void.as_deref())).collect();
    assert_eq!(named, [(2, Some("it runs commands"))]);
    // Nobody knows of it until the alert is committed.
    assert_eq!(daemon.store.void_rules(&ada(), Vec::new()).await.unwrap(), void);
    assert_eq!(daemon.offers("two", forms(&["npm test"])).await.decided, Some(Decision::Allow));
    let asked = daemon.offers("three", forms(&["ls"])).await;
    assert_eq!(asked.decided, None);
    let text = Redacted::from_store("rule 2 is void".to_owned());
    let alert = NewAlert::new(ada(), WebhookEvent::AgentError, text);
    daemon.store.tell_void_rules(vec![2], alert).await.unwrap();
    assert_eq!(daemon.store.void_rules(&ada(), Vec::new()).await.unwrap(), []);
    let listed = daemon.store.rules(Some(&ada())).await.unwrap();
    assert_eq!(listed.iter().filter(|row| row.void.is_some()).count(), 1);
    let done = daemon.store.decide_always(asked.number, always()).await.unwrap();
    assert!(matches!(&done.stored, Stored::Rules(rows) if rows[0].void.is_none()), "{done:?}");
    assert_eq!(daemon.offers("four", forms(&["ls"])).await.decided, Some(Decision::Allow));
}

/// What no rule can cover is allowed this once; a rule is stored once, however often it is said.
pub(crate) async fn what_is_unclear_makes_no_rule(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let unclear = Offer { subject: Subject::Unclear("it expands".to_owned()), ..forms(&[]) };
    let asked = daemon.offers("one", unclear).await.number;
    let done = daemon.store.decide_always(asked, always()).await.unwrap();
    assert_eq!(done.stored, Stored::Nothing("it expands".to_owned()));
    let by = always().known_as;
    let text = format!(
        "approval {asked} is allowed this once by {by}: no rule is stored, because it expands"
    );
    assert_eq!(recorded(&daemon).await, [text]);
    assert_eq!(daemon.state(asked).await, ApprovalState::Allowed);
    assert_eq!(daemon.store.rules(None).await.unwrap(), []);
    let (first, second) =
        (daemon.offers("two", forms(&["ls"])).await, daemon.offers("three", forms(&["ls"])).await);
    for number in [first.number, second.number] {
        daemon.store.decide_always(number, always()).await.unwrap();
    }
    assert_eq!(daemon.store.rules(None).await.unwrap().len(), 1);
    let again = daemon.store.decide_always(first.number, always()).await;
    assert!(matches!(again, Err(DecideError::Closed { .. })));
}

/// The rows that rules take are numbered without gaps, and an agent has at most so many.
pub(crate) async fn an_agent_has_a_bounded_number_of_rules(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let chunk = 20;
    for first in (0..RULES_MAX).step_by(chunk) {
        let texts: Vec<String> = (first..first + chunk).map(|it| format!("a {it}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let asked = daemon.offers(&format!("r{first}"), forms(&texts)).await;
        let done = daemon.store.decide_always(asked.number, always()).await.unwrap();
        let Stored::Rules(rules) = done.stored else { panic!("{first}: {:?}", done.stored) };
        assert_eq!(rules.len(), chunk);
    }
    let known = forms(&["a 0", "b"]);
    let asked = daemon.offers("more", known).await;
    let done = daemon.store.decide_always(asked.number, always()).await.unwrap();
    let Stored::Nothing(why) = done.stored else { panic!("{:?}", done.stored) };
    assert!(why.contains("has 500 rules of at most 500"), "{why}");
    assert_eq!(daemon.state(asked.number).await, ApprovalState::Allowed);
    let rules = daemon.store.rules(None).await.unwrap();
    let last = i64::try_from(RULES_MAX).unwrap();
    assert_eq!(rules.last().map(|row| row.rule.number), Some(last), "no number is used up");
    daemon.store.remove_rule(last, "ori").await.unwrap().unwrap();
    let asked = daemon.offers("again", forms(&["a 0", "b"])).await;
    let done = daemon.store.decide_always(asked.number, always()).await.unwrap();
    let Stored::Rules(rules) = done.stored else { panic!("{:?}", done.stored) };
    let numbers: Vec<i64> = rules.iter().map(|row| row.rule.number).collect();
    assert_eq!(numbers, [1, last + 1], "a removed number is not given again");
}

/// A rule that decided for a turn that is gone is looked at anew for the next attempt.
pub(crate) async fn a_removed_rule_does_not_count_for_the_next_attempt(fixture: &Fixture) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let first = daemon.offers("one", forms(&["ls"])).await;
    daemon.store.decide_always(first.number, always()).await.unwrap();
    alone(&daemon.store, Entry::Delivered(first.number)).await.unwrap();
    let second = daemon.offers("two", forms(&["ls"])).await;
    assert_eq!(second.decided, Some(Decision::Allow));
    daemon.restart().await;
    daemon.store.remove_rule(1, "ori").await.unwrap().unwrap();
    daemon.take().await;
    let again = daemon.offers("two", forms(&["ls"])).await;
    assert_eq!((again.number, again.decided), (second.number, None));
}

/// The turn that asked is gone: the rule is stored, and the decision counts for the next attempt.
pub(crate) async fn what_is_allowed_for_good_after_its_turn_is_gone_makes_a_rule(
    fixture: &Fixture,
) {
    let mut daemon = Daemon::start(fixture).await;
    daemon.take().await;
    let first = daemon.offers("one", forms(&["ls"])).await;
    assert_eq!(daemon.restart().await, [first.number]);
    let done = daemon.store.decide_always(first.number, always()).await.unwrap();
    assert!(done.decided.for_next_attempt);
    assert!(matches!(done.stored, Stored::Rules(rules) if rules.len() == 1));
    daemon.take().await;
    let again = daemon.offers("one", forms(&["ls"])).await;
    assert_eq!((again.number, again.decided), (first.number, Some(Decision::Allow)));
    let row = daemon.store.approval(first.number).await.unwrap().unwrap();
    assert!(!row.is_by_rules(), "a person decided");
}
