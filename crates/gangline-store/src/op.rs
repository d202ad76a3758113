//! The names of the writes, and the failpoints around each commit.

/// One kind of write.
#[derive(Debug)]
pub(crate) struct Op {
    pub(crate) name: &'static str,
    /// Everything is written, nothing committed.
    pub(crate) before_commit: &'static str,
    /// Committed, not yet synced.
    pub(crate) after_commit: &'static str,
    /// Synced, the caller does not know it yet.
    pub(crate) after_sync: &'static str,
}

macro_rules! ops {
    ($($konst:ident = $name:literal),* $(,)?) => {
        $(pub(crate) static $konst: Op = Op {
            name: $name,
            before_commit: concat!($name, ".before_commit"),
            after_commit: concat!($name, ".after_commit"),
            after_sync: concat!($name, ".after_sync"),
        };)*

        /// Every failpoint of the store, for tests that kill a process at each of them:
        /// `<write>.before_commit`, `<write>.after_commit`, `<write>.after_sync`.
        pub const FAILPOINTS: &[&str] = &[$(
            concat!($name, ".before_commit"),
            concat!($name, ".after_commit"),
            concat!($name, ".after_sync"),
        )*];
    };
}

ops! {
    ACCEPT = "accept",
    MOVE_CURSOR = "move_cursor",
    CANCEL = "cancel",
    RELEASE = "release",
    END_CAUSE = "end_cause",
    BEGIN_EPOCH = "begin_epoch",
    SET_AGENT = "set_agent",
    PAUSE = "pause",
    ORDER = "order",
    ORDER_TURN = "order_turn",
    APPLIED = "applied",
    REQUEST_CHANGE = "request_change",
    DECIDE_CHANGE = "decide_change",
    STEP_CHANGE = "step_change",
    TAKE = "take",
    SEND = "send",
    REPEAT_ACT = "repeat_act",
    END_TURN = "end_turn",
    MARK_SENT = "mark_sent",
    CONFIRM = "confirm",
    UNDELIVERABLE = "undeliverable",
    MAY_BE_DOUBLED = "may_be_doubled",
    APPEND = "append",
    OPEN_APPROVAL = "open_approval",
    DECIDE = "decide",
    MARK_DELIVERED = "mark_delivered",
    WITHDRAW_APPROVAL = "withdraw_approval",
    VOID_OLDER = "void_older",
    REMOVE_RULE = "remove_rule",
    VOID_RULES = "void_rules",
    ASK = "ask",
    ANSWER = "answer",
    CANCEL_QUESTION = "cancel_question",
    EXPIRE_QUESTIONS = "expire_questions",
    STOP_WAITING = "stop_waiting",
    REMIND = "remind",
    FIRE_REMINDER = "fire_reminder",
    REMOVE_REMINDER = "remove_reminder",
    SEND_LETTER = "send_letter",
    READ_LETTERS = "read_letters",
    SETTLE_LETTER = "settle_letter",
    RAISE_FINDING = "raise_finding",
    SEE_FINDING = "see_finding",
    RESOLVE_FINDING = "resolve_finding",
    DECIDE_FINDING = "decide_finding",
    RETRY = "retry",
    WAKE = "wake",
    NOTE_RESTART = "note_restart",
    WHISPER = "whisper",
    WHISPERS_DELIVERED = "whispers_delivered",
    ADD_TOKEN = "add_token",
    REVOKE_TOKEN = "revoke_token",
    USE_TOKEN = "use_token",
    TRUST_FOLDER = "trust_folder",
    ALERT = "alert",
    TELL_ALERT = "tell_alert",
    CLAIM_DELIVERY = "claim_delivery",
    END_DELIVERY = "end_delivery",
    ADD_USAGE = "add_usage",
    RELAY_BEGINS = "relay_begins",
    RELAYED = "relayed",
    RAISE_BUDGET = "raise_budget",
    HOLD_FLEET = "hold_fleet",
    PUT_ACCOUNT = "put_account",
    PROBE = "probe",
}
