//! Stores in temporary folders, and short ways to make what goes into them.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use gangline_core::{
    AgentName, Epoch, FindingNumber, MessageId, MessageState, Origin, Principal, Tier, TurnId,
    act::{ActKey, ActKind},
    approval::view::Extent,
    approval::{Audience, Decision},
    finding::{Choice, ChoiceWord, FindingKind},
    outcome::OutcomeWord,
    question::{AnswerRule, Asked, Choose, OnTimeout, Standing},
    redact::Redacted,
    whisper::{WhisperKind, WhisperRoad, WhisperSource},
};
use gangline_os::clock::{self, UnixMicros};
use gangline_store::{
    Announce, ChangeKind, Delivered, EndTurn, Entry, FindingAnswer, LineKind, NUMBER_PLACEHOLDER,
    NewAct, NewAnswer, NewChange, NewFinding, NewFolderTrust, NewLetter, NewMessage, NewQuestion,
    NewRaise, NewReminder, NewToken, NewUsage, NewWake, NewWhisper, OpenApproval, OpenOptions,
    RelayedCall, Ruling, Send, Settle, Store, StoreError, Take, TokenScope, TrustWord, Tuning,
    Whose, WithdrawApproval,
};

/// One installation's store, on the engine that the contract is run for.
pub(crate) struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("state").join("gangline.db")
    }

    /// Opens the store once more, as another process would.
    pub(crate) async fn open(&self) -> Store {
        open(&self.path()).await
    }
}

pub(crate) async fn open(path: &Path) -> Store {
    Store::open(options(path)).await.unwrap()
}

pub(crate) fn options(path: &Path) -> OpenOptions {
    OpenOptions { path: path.to_owned(), clock: clock::system() }
}

pub(crate) fn hasty(lock_wait: Duration) -> Tuning {
    Tuning { lock_wait, busy_timeout: Duration::from_millis(200), ..Tuning::default() }
}

pub(crate) fn ada() -> AgentName {
    "spark-ada".parse().unwrap()
}

/// A daemon whose configured backend is the one that it has.
pub(crate) fn claude() -> Whose<'static> {
    Whose { runtime: "claude", configured: "claude" }
}

/// Records one thing by itself.
pub(crate) async fn alone(store: &Store, entry: Entry) -> Result<(), StoreError> {
    store.together(vec![entry]).await?.remove(0).map(drop)
}

pub(crate) fn bob() -> AgentName {
    "spark-bob".parse().unwrap()
}

pub(crate) fn text(text: &str) -> Redacted {
    Redacted::from_store(text.to_owned())
}

pub(crate) fn owner() -> Principal {
    Principal { account: "owner".to_owned(), tier: Tier::Owner }
}

pub(crate) fn message(agent: &AgentName, body: &str) -> NewMessage {
    NewMessage {
        agent: agent.clone(),
        network_id: "local".to_owned(),
        intake_key: None,
        origin: Origin::Direct,
        principal: owner(),
        sender: "otto".to_owned(),
        target: "otto".to_owned(),
        body: text(body),
        in_reply_to: None,
        cause_root: None,
        hops: 0,
        state: MessageState::Accepted,
        cursor: None,
        not_before: None,
        msgid: None,
    }
}

pub(crate) fn keyed(agent: &AgentName, key: &str) -> NewMessage {
    NewMessage { intake_key: Some(key.to_owned()), ..message(agent, key) }
}

pub(crate) fn turn(epoch: Epoch, number: i64) -> TurnId {
    TurnId { epoch, number }
}

pub(crate) fn take(agent: &AgentName, turn: TurnId, messages: &[MessageId]) -> Take {
    Take {
        agent: agent.clone(),
        turn,
        messages: messages.to_vec(),
        prompt_uuid: format!("uuid-{turn}"),
        how: gangline_store::How::Woke,
        turns_per_cause: 30,
    }
}

/// Lets one root cause have no more turns than this.
pub(crate) fn limited(take: Take, turns_per_cause: i64) -> Take {
    Take { turns_per_cause, ..take }
}

pub(crate) fn send(agent: &AgentName, key: &str, lines: &[&str]) -> Send {
    Send {
        agent: agent.clone(),
        turn: None,
        idem_key: key.to_owned().into(),
        target: "#room".to_owned(),
        lines: lines.iter().map(|line| text(line).into()).collect(),
        kind: LineKind::Privmsg,
        in_reply_to: None,
        deliver: None,
    }
}

pub(crate) fn question(agent: &AgentName, request: &str) -> NewQuestion {
    NewQuestion {
        agent: agent.clone(),
        turn: None,
        request: request.to_owned(),
        asked: Asked::Operator,
        rule: AnswerRule::Humans,
        body: text("merge?"),
        options: vec![text("yes"), text("no")],
        choose: Choose::One,
        on_timeout: OnTimeout::None,
        expires_at: Some(UnixMicros(i64::MAX)),
        in_reply_to: None,
        reply_target: "#room".to_owned(),
        waits: None,
    }
}

/// An owner's answer.
pub(crate) fn answer(said: &str) -> NewAnswer {
    NewAnswer {
        by: owner(),
        known_as: "otto".to_owned(),
        standing: Standing::Decides,
        text: text(said),
    }
}

pub(crate) fn reminder(agent: &AgentName, request: &str, due_at: i64) -> NewReminder {
    NewReminder {
        agent: agent.clone(),
        by: Principal { account: agent.to_string(), tier: Tier::Agent },
        turn: None,
        request: request.to_owned(),
        target: "#room".to_owned(),
        body: text("tea"),
        due_at: UnixMicros(due_at),
        repeats: None,
        open_max: 3,
    }
}

pub(crate) fn whisper(said: &str) -> NewWhisper {
    NewWhisper {
        agent: ada(),
        kind: WhisperKind::Correction,
        source: WhisperSource::Operator,
        text: text(said),
        by: Some("otto".to_owned()),
        finding: None,
        turn: None,
    }
}

pub(crate) fn delivered(ids: &[i64], road: WhisperRoad) -> Delivered {
    Delivered { agent: ada(), ids: ids.to_vec(), road, turn: None }
}

pub(crate) fn letter(agent: &AgentName, key: &str) -> NewLetter {
    NewLetter {
        agent: agent.clone(),
        turn: None,
        idem_key: key.to_owned(),
        in_reply_to: None,
        body: text("the build is red"),
    }
}

pub(crate) fn wake_of(agent: &AgentName, label: &str, key: Option<&str>) -> NewWake {
    NewWake {
        agent: agent.clone(),
        label: label.parse().unwrap(),
        tier: Tier::Agent,
        body: text("new dm from @alice"),
        key: key.map(str::to_owned),
    }
}

pub(crate) fn token(agent: &AgentName, hash: &str) -> NewToken {
    NewToken {
        scope: TokenScope::Wake,
        agent: agent.clone(),
        label: "ci".to_owned(),
        hash: hash.to_owned(),
        made_by: owner(),
    }
}

pub(crate) fn new_change(turn: TurnId) -> NewChange {
    NewChange {
        agent: ada(),
        turn,
        request: "first".to_owned(),
        kind: ChangeKind::Spawn,
        subject: bob(),
        commit: None,
        entry: Some("nick: oak-bob".to_owned()),
        summary: text("a new agent oak-bob"),
        detail: text("nick: oak-bob"),
        reason: text(""),
        message: None,
        reply_target: "#general".to_owned(),
    }
}

pub(crate) fn settle(message: MessageId, state: MessageState) -> Settle {
    Settle { message, state, reason: None, answer: None, not_before: None, uncount_attempt: false }
}

pub(crate) fn end(agent: &AgentName, turn: TurnId, settle: Vec<Settle>) -> EndTurn {
    EndTurn {
        agent: agent.clone(),
        turn,
        outcome: OutcomeWord::Completed.into(),
        settle,
        sends: Vec::new(),
        events: Vec::new(),
        withdraw_approvals: None,
    }
}

/// A turn that was lost: its messages wait again.
pub(crate) fn lose(agent: &AgentName, turn: TurnId, messages: &[MessageId]) -> EndTurn {
    let back = messages.iter().map(|id| settle(*id, MessageState::Accepted)).collect();
    EndTurn { outcome: OutcomeWord::Lost.into(), ..end(agent, turn, back) }
}

/// Ada's call in a turn; all of a kind do the same.
pub(crate) fn act(turn: TurnId, request: &str, kind: ActKind) -> NewAct {
    NewAct {
        agent: ada(),
        turn,
        request: request.to_owned(),
        kind,
        key: ActKey::new(kind, &["tea"]),
        in_reply_to: None,
        waits: None,
    }
}

pub(crate) fn ask(agent: &AgentName, turn: TurnId, message: MessageId) -> OpenApproval {
    OpenApproval {
        agent: agent.clone(),
        turn,
        message: Some(message),
        request: format!("request-{turn}"),
        tool: "Bash".to_owned(),
        args_hash: "hash-of-rm".to_owned(),
        summary: text("rm -rf build"),
        detail: text("{\"command\":\"rm -rf build\"}"),
        audience: Audience::Everybody,
        folder: text("/srv/proj"),
        said_before: text("I clean the build folder."),
        offer: None,
        announce: None,
    }
}

/// Announces it in a place as a line of this key.
pub(crate) fn announce(agent: &AgentName, key: &str, place: &str) -> Announce {
    let line =
        format!("approval {NUMBER_PLACEHOLDER}: echo {{number}}, say yes {NUMBER_PLACEHOLDER}");
    let send = Send { target: place.to_owned(), ..send(agent, key, &[&line]) };
    Announce { send, place: place.to_owned(), extent: Extent::Whole, question: None }
}

/// The owner's decision, without words.
pub(crate) fn rules(decision: Decision) -> Ruling {
    Ruling { decision, by: owner(), known_as: "ori".to_owned(), note: None, say: None }
}

pub(crate) fn withdraw(agent: &AgentName, turn: TurnId, request: &str) -> WithdrawApproval {
    WithdrawApproval {
        agent: agent.clone(),
        turn,
        request: request.to_owned(),
        why: text("taken back"),
        say: Some(send(
            agent,
            &format!("back-{request}"),
            &[&format!("{NUMBER_PLACEHOLDER} is gone")],
        )),
    }
}

pub(crate) fn usage(turn: Option<TurnId>) -> NewUsage {
    NewUsage {
        agent: ada(),
        turn,
        by: gangline_core::usage::Spender::Agent,
        model: "m".to_owned(),
        input: 1,
        output: 1,
        cache_read: 0,
        cache_write: 0,
        cost_micros: None,
        source: gangline_core::budget::UsageSource::Backend,
    }
}

/// The day of every record here.
pub(crate) const DAY: &str = "2026-11-26";

/// A call that used this much, in this turn or in none.
pub(crate) fn relayed(turn: Option<TurnId>, input: i64) -> RelayedCall {
    let source = gangline_core::budget::UsageSource::Relay;
    RelayedCall {
        noted: None,
        agent: ada(),
        usage: turn.map(|turn| NewUsage { input, source, ..usage(Some(turn)) }),
        day: DAY.to_owned(),
        outcome: gangline_core::budget::CallOutcome::Answered,
        first_byte_micros: 20,
        lasted_micros: 300,
    }
}

pub(crate) fn raise(scope: &str, by: &str) -> NewRaise {
    NewRaise {
        scope: scope.parse().unwrap(),
        day: DAY.to_owned(),
        raise: by.parse().unwrap(),
        by: "otto".to_owned(),
    }
}

/// A person's answer to a finding.
pub(crate) fn answered(number: FindingNumber, choice: ChoiceWord, by: &str) -> FindingAnswer {
    FindingAnswer { number, choice, by: by.to_owned(), released: 30 }
}

/// A finding that a person may end by `abort`.
pub(crate) fn silent(agent: &AgentName, cause: &str) -> NewFinding {
    NewFinding {
        choices: vec![Choice::new(ChoiceWord::Abort, "ends the turn")],
        recommended: Some(ChoiceWord::Abort),
        ..NewFinding::new(agent.clone(), FindingKind::SilentTurn, text(cause))
    }
}

/// A word of the owner about what the folder `/proj` of `ada` brings along.
pub(crate) fn folder_word(hash: &str, word: TrustWord) -> NewFolderTrust {
    NewFolderTrust {
        agent: ada(),
        folder: "/proj".to_owned(),
        hash: hash.to_owned(),
        word,
        what: Redacted::from_store("one hook".to_owned()),
        by: "boss".to_owned(),
    }
}
