//! A script in the program's place: one that does everything right, and all that do not.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use gangline_runtime::{
    Answer, Block, Command, Past, Permissions, Refusal, RuntimeEvent, SessionFilter, SessionId,
    StopReason, TurnResult,
};
use gangline_testkit::hostile::{self, Play};

use super::rig::{self, Rig, no};

/// A rig for `agent: acp` with nothing but the command.
fn any(play: Play) -> Rig {
    of("acp", play)
}

fn of(backend: &str, play: Play) -> Rig {
    let mut rig = Rig::of(backend, Vec::new());
    let program = hostile::acp().program(play, &rig.path(""));
    rig.options.command = Some(vec!["node".to_owned(), program.display().to_string()]);
    rig.options.system_prompt = String::new();
    rig
}

/// R0-63, R0-02, R0-18: any command that speaks the protocol is an agent: words are joined, thoughts and
/// tools are told, what is not served is refused, sessions are listed and gone on with.
#[tokio::test]
async fn any_command_is_an_agent() {
    let mut rig = any(Play::Good);
    rig.options.env.push(("AGENT_LISTS".to_owned(), "1".to_owned()));
    let (first, notices) = rig.opened().await;
    assert_eq!((first.0.as_str(), notices), ("s-1", Vec::new()));
    let done = rig.ask(1, "hello").await;
    assert_eq!(done.text(), "you said hello with plain");
    let shown = format!("{:?}", done.0);
    assert!(shown.contains("Thinking { thinking: \"hmm\" }"), "{shown}");
    let usage = &done.usage()[0];
    // What came from the cache is not counted twice.
    assert_eq!((usage.input_tokens, usage.cache_read_tokens, usage.output_tokens), (6, 4, 2));
    assert_eq!((usage.context_tokens, usage.context_window), (Some(12), Some(100)));
    assert_eq!(usage.cost_micros, Some(500_000));
    // The cost is told as a sum.
    assert_eq!(rig.ask(2, "more").await.usage()[0].cost_micros, Some(0));

    let (done, asks) = rig.decided(3, "run rm", Answer::Allow).await;
    assert_eq!((asks[0].tool.as_str(), &asks[0].input["command"]), ("Bash", &"rm".into()));
    // Allowed this once, although another way stands first.
    assert_eq!(done.results(), [("Bash".to_owned(), false, "tool yes".to_owned())]);
    let (done, _) = rig.decided(4, "run rm", no()).await;
    assert_eq!(done.results(), [("Bash".to_owned(), true, "tool no".to_owned())]);
    assert_eq!(rig.ask(5, "files").await.text(), "refused with -32601");

    rig.runtime.set_model("better").await.unwrap();
    assert_eq!(rig.ask(6, "hello").await.text(), "you said hello with better");
    rig.runtime.set_model("nope").await.unwrap();
    let done = rig.ask(7, "hello").await;
    assert!(done.notices()[0].contains("not changed to nope: no such model"), "{done:#?}");
    let why = rig.runtime.refused(Command::Compact).await;
    assert!(matches!(why, Refusal::Unsupported { .. }));

    rig.runtime.clear().await.unwrap();
    let done = rig.ask(8, "fresh").await;
    let second = SessionId("s-2".to_owned());
    assert!(done.0.contains(&RuntimeEvent::Session { session: second.clone() }), "{done:#?}");
    rig.runtime.stop(StopReason::Shutdown).await;
    assert_eq!(rig.rest().await, [RuntimeEvent::Exited { code: 0 }]);
    let filter = SessionFilter { workdir: Some(rig.path("work")), limit: 9 };
    let kept = rig.runtime.list_sessions(&rig.options, &filter).await.unwrap();
    assert_eq!(kept.len(), 2, "{kept:?}");

    // The past is told again by the program, and not by us.
    rig.options.resume = Some(first.clone());
    assert_eq!(rig.opened().await, (first, Vec::new()));
    assert_eq!(rig.ask(9, "again").await.text(), "you said again with plain");
    rig.runtime.stop(StopReason::Shutdown).await;
    rig.rest().await;
    // One that is gone is told, and a new one begins (C7).
    rig.options.resume = Some(SessionId("s-9".to_owned()));
    let (third, notices) = rig.opened().await;
    assert_eq!(third.0, "s-3");
    assert!(notices[0].contains("s-9 (Resource not found); a new one begins"), "{notices:?}");
    assert_eq!(rig.ask(10, "hello").await.text(), "you said hello with plain");
}

/// C5: who decides is the mode's affair: a kind counts, not the model's own title; a tool of the
/// daemon needs nobody.
#[tokio::test]
async fn permissions_go_by_kind_and_mode() {
    for (mode, prompt, asked, result) in [
        (Permissions::Ask, "run x", 1, "tool yes"),
        // A command that calls itself a tool of ours.
        (Permissions::Ask, "claim gangline_send", 1, "tool yes"),
        (Permissions::Ask, "call gangline_send", 0, "tool yes"),
        (Permissions::Ask, "call mcp__gangline__send: x", 0, "tool yes"),
        (Permissions::Ask, "call gangline_other", 1, "tool yes"),
        (Permissions::Ask, "call Read", 1, "tool yes"),
        (Permissions::Allowlist, "run x", 0, "tool yes"),
        (Permissions::Allowlist, "call spy", 0, "tool no"),
        (Permissions::Bypass, "call spy", 0, "tool yes"),
    ] {
        let mut rig = any(Play::Good);
        rig.options.permissions = mode;
        rig.opened().await;
        let (done, asks) = rig.decided(1, prompt, Answer::Allow).await;
        assert_eq!(asks.len(), asked, "{mode:?} {prompt}: {done:#?}");
        assert_eq!(done.results()[0].2, result, "{mode:?} {prompt}: {done:#?}");
    }
}

/// C5: a program whose own settings let everything run is set back, or not used.
#[tokio::test]
async fn a_program_that_asks_nobody_is_made_to_ask() {
    let mut rig = of("cline", Play::Good);
    rig.options.env.push(("AGENT_AUTO".to_owned(), "1".to_owned()));
    rig.opened().await;
    let (done, asks) = rig.decided(1, "run x", Answer::Allow).await;
    assert_eq!(asks.len(), 1, "{done:#?}");
    let mut rig = of("cline", Play::Good);
    rig.options.env.push(("AGENT_AUTO".to_owned(), "always".to_owned()));
    rig.begin().await;
    let seen = rig.rest().await;
    let notices = rig::Done(seen).notices().join(" ");
    assert!(notices.contains("cannot be told not to: it is so"), "{notices}");
}

/// C5: any program that opens in a mode in which it asks nobody is put into the other one, in a
/// session that is gone on with too; one that asks nobody in spite of all is told of once.
#[tokio::test]
async fn any_program_asks_or_is_said_not_to() {
    let mut rig = any(Play::Good);
    rig.options.env.push(("AGENT_MODE".to_owned(), "auto".to_owned()));
    let (session, notices) = rig.opened().await;
    assert_eq!(notices, Vec::<String>::new());
    for turn in 1..3 {
        let (done, asks) = rig.decided(turn, "run x", no()).await;
        assert_eq!(asks.len(), 1, "{done:#?}");
        assert_eq!(done.results()[0].2, "tool no", "{done:#?}");
        rig.runtime.stop(StopReason::Restart).await;
        rig.rest().await;
        rig.options.resume = Some(session.clone());
        rig.opened().await;
    }
    let mut rig = any(Play::Good);
    rig.options.env.push(("AGENT_AUTO".to_owned(), "1".to_owned()));
    rig.opened().await;
    let mut unasked = Vec::new();
    for turn in 1..3 {
        let (done, asks) = rig.decided(turn, "run rm", no()).await;
        assert_eq!(asks, []);
        unasked.extend(done.0.into_iter().filter(|it| matches!(it, RuntimeEvent::Unasked { .. })));
    }
    let [RuntimeEvent::Unasked { tool, input, .. }] = &unasked[..] else { panic!("{unasked:#?}") };
    assert_eq!((tool.as_str(), &input["command"]), ("Bash", &"rm".into()));
}

/// R0-08: a turn that waits, and one with a question that waits, end when they are interrupted;
/// the answer that comes too late is nobody's.
#[tokio::test]
async fn an_interrupt_takes_questions_back() {
    let mut rig = any(Play::Good);
    rig.opened().await;
    for (number, prompt) in [(1, "wait"), (2, "run x"), (3, "wait")] {
        rig.say(number, prompt).await;
        let seen = rig
            .until(|event| {
                matches!(event, RuntimeEvent::ApprovalAsked { .. })
                    || number != 2 && matches!(event, RuntimeEvent::Accepted { .. })
            })
            .await;
        rig.runtime.interrupt().await.unwrap();
        rig.runtime.interrupt().await.unwrap();
        let rest = rig.until_finished().await;
        let turn = rig::turn(number);
        let end = RuntimeEvent::Finished { turn, result: TurnResult::Interrupted };
        assert_eq!(rest.last(), Some(&end), "{seen:#?} {rest:#?}");
    }
    assert_eq!(rig.ask(4, "hello").await.text(), "you said hello with plain");
}

/// Refusals are told as what they are.
#[tokio::test]
async fn refusals_are_told_apart() {
    let mut rig = any(Play::Good);
    rig.opened().await;
    let kind = |result: &TurnResult| match result {
        TurnResult::Failed { kind, .. } => kind.as_str(),
        TurnResult::RateLimited { .. } => "limited",
        TurnResult::NeedsLogin { .. } => "login",
        TurnResult::Completed | TurnResult::Interrupted => "none",
    };
    for (number, text, told) in [
        (1, "fail -32000 Authentication required", "login"),
        (2, "fail 401 {}", "login"),
        (3, "fail 429 slow", "limited"),
        (4, "fail 503 broken", "provider"),
        (5, "fail 400 the prompt is too long", "context_overflow"),
        (6, "fail 400 bad", "request"),
        (7, "fail -32603 unexpected HTTP 429", "limited"),
        (8, "fail -32603 no idea", "provider"),
    ] {
        let done = rig.ask(number, text).await;
        assert_eq!(kind(done.result()), told, "{text}: {done:#?}");
    }
}

/// R2-43: without a login there is no session, and each prompt is told what to do; once somebody
/// has logged in the next one is answered.
#[tokio::test]
async fn a_missing_login_is_told_with_the_way() {
    let mut rig = of("kiro", Play::Good);
    let login = rig.path("logged-in");
    rig.options.env.push(("AGENT_LOGIN".to_owned(), login.display().to_string()));
    let (session, notices) = rig.opened().await;
    assert_eq!(session.0, "none");
    let told = notices.iter().find(|notice| notice.starts_with("no login: "));
    assert!(told.is_some_and(|hint| hint.contains("kiro-cli login")), "at its start: {notices:?}");
    let done = rig.ask(1, "hello").await;
    let TurnResult::NeedsLogin { hint } = done.result() else { panic!("{done:#?}") };
    assert!(hint.contains("kiro-cli login") && hint.contains("`agent login`"), "{hint}");
    std::fs::write(&login, "").unwrap();
    rig.say(2, "hello").await;
    let seen = rig.until_finished().await;
    let session = RuntimeEvent::Session { session: SessionId("s-1".to_owned()) };
    assert!(seen.contains(&session) && seen.contains(&RuntimeEvent::LoggedIn), "{seen:#?}");
    assert_eq!(rig::Done(seen).text(), "you said hello with plain");
}

/// R0-02: a program with messages of its own beside those of the protocol, as Kiro has.
#[tokio::test]
async fn messages_of_a_vendor_are_passed_over() {
    let mut rig = of("kiro", Play::UnknownEvents);
    rig.options.model = Some("best".to_owned());
    rig.opened().await;
    let done = rig.ask(1, "hello").await;
    assert_eq!(done.text(), "you said hello with best");
    assert_eq!(done.notices(), [""; 0]);
}

/// R0-18: the end of an answer that comes after the end of its turn belongs to it.
#[tokio::test]
async fn the_last_piece_of_an_answer_may_come_after_the_end() {
    let mut rig = any(Play::Good);
    rig.options.env.push(("AGENT_LATE".to_owned(), "1".to_owned()));
    rig.opened().await;
    assert_eq!(rig.ask(1, "hello").await.text(), "you said hello with plain, late");
}

/// What is on record of every session.
struct Record(&'static [&'static str]);

#[async_trait]
impl Past for Record {
    async fn of(&self, _session: &str) -> Vec<Block> {
        self.0.iter().map(|text| Block::Text { text: (*text).to_owned() }).collect()
    }
}

/// R0-16: a program that tells a loaded session again behind the next prompt says nothing of it in its
/// answer, if it is on record.
#[tokio::test]
async fn a_past_that_is_told_late_is_in_no_answer() {
    for (record, answer) in [
        (&["you said a secret with plain", "you said more with plain"] as &[_], ""),
        (&[], "you said a secret with plainyou said more with plain\n"),
    ] {
        let mut rig = any(Play::Good);
        rig.options.env.push(("AGENT_REPLAYS".to_owned(), "1".to_owned()));
        let (session, _) = rig.opened().await;
        rig.ask(1, "a secret").await;
        rig.ask(2, "more").await;
        rig.runtime.stop(StopReason::Restart).await;
        rig.rest().await;
        rig.options.resume = Some(session);
        rig.options.past = Arc::new(Record(record));
        rig.opened().await;
        let done = rig.ask(3, "hello").await;
        assert_eq!(done.text(), format!("{answer}you said hello with plain"), "{done:#?}");
        let told = done.notices().join("\n").matches("told again").count();
        assert_eq!(told, usize::from(!record.is_empty()), "{done:#?}");
    }
}

/// How a turn with such a program ends.
enum Ends {
    /// With this text.
    Says(&'static str),
    /// It fails, with these words.
    Fails(&'static str),
    /// The program is gone, with this code.
    Exits(i32),
    /// Not at all: it is stopped.
    Hangs,
    /// It does not even begin.
    NeverBegins,
}

fn ends(play: Play) -> Ends {
    match play {
        Play::Good
        | Play::Grandchild
        | Play::FloodsStderr
        | Play::EndlessLine
        | Play::InvalidUtf8
        | Play::UnknownEvents
        | Play::Garbage
        | Play::AnswersTwice
        | Play::RefusesResume => Ends::Says("you said hello with plain"),
        Play::SuccessWithoutAWord => Ends::Fails("said and did nothing"),
        Play::ExitsAfterThePrompt | Play::ExitsInAText | Play::ExitsInATool | Play::AsksAndDies => {
            Ends::Exits(7)
        }
        Play::SilentInTheTurn | Play::IgnoresTerm => Ends::Hangs,
        Play::SilentFromTheStart => Ends::NeverBegins,
    }
}

/// R0-09, R0-10, R0-20: whatever a program does, its turn is settled once, the operator is told,
/// memory stays bounded, and nothing of it is left.
#[tokio::test]
async fn every_play_is_survived() {
    for play in Play::ALL {
        let mut rig = any(play);
        let end = ends(play);
        rig.begin().await;
        if !matches!(end, Ends::NeverBegins) {
            rig.until(|event| matches!(event, RuntimeEvent::Ready { .. })).await;
        }
        let before = gangline_os::proc::pss_kib(std::process::id()).unwrap_or_default();
        rig.say(1, "hello").await;
        let mut seen = match end {
            Ends::Says(_) | Ends::Fails(_) => rig.until_finished().await,
            Ends::Exits(_) | Ends::Hangs | Ends::NeverBegins => Vec::new(),
        };
        let after = gangline_os::proc::pss_kib(std::process::id()).unwrap_or_default();
        assert!(after < before + 64 * 1024, "{play:?}: {before} KiB, then {after} KiB");
        match end {
            Ends::Says(text) => assert_eq!(rig::Done(seen.clone()).text(), text, "{play:?}"),
            Ends::Fails(words) => {
                let last = format!("{:?}", seen.last());
                assert!(last.contains(words), "{play:?}: {last}");
            }
            Ends::Exits(_) => {}
            Ends::Hangs | Ends::NeverBegins => {
                let stop = rig.runtime.stop(StopReason::Stuck);
                tokio::time::timeout(Duration::from_secs(60), stop).await.unwrap();
            }
        }
        if !matches!(end, Ends::Exits(_)) {
            rig.runtime.stop(StopReason::Shutdown).await;
        }
        seen.extend(rig.rest().await);
        let code = if let Ends::Exits(code) = end { code } else { 0 };
        assert_eq!(seen.last(), Some(&RuntimeEvent::Exited { code }), "{play:?}");
        let finished = seen.iter().filter(|it| matches!(it, RuntimeEvent::Finished { .. })).count();
        assert!(finished <= 1, "{play:?}: {seen:#?}");
        let notices = rig::Done(seen).notices().join("\n");
        let told = match play {
            Play::EndlessLine => "line of 100000000 bytes",
            Play::Garbage | Play::InvalidUtf8 => "a line that is not a message",
            _ if code == 7 => "ended with code 7",
            _ => "",
        };
        assert!(notices.contains(told), "{play:?}: {notices}");
        assert_eq!(rig.processes(), [""; 0], "{play:?}");
    }
}

/// What a program says on its output before it ends is quoted, and so is what one says that never
/// begins to speak the protocol.
#[tokio::test]
async fn last_words_on_the_output_are_quoted() {
    for (variable, words) in [
        ("AGENT_LAST_WORDS", "this program is no longer maintained"),
        ("AGENT_BABBLES", "still warming up"),
    ] {
        let mut rig = any(Play::Good);
        rig.options.env.push((variable.to_owned(), words.to_owned()));
        rig.begin().await;
        let seen = rig.rest().await;
        let notices = rig::Done(seen).notices().join("\n");
        assert!(notices.contains(&format!("not a message: {words}")), "{variable}: {notices}");
        assert!(notices.contains(&format!("it said: {words}")), "{variable}: {notices}");
        assert_eq!(rig.processes(), [""; 0], "{variable}");
    }
}

/// R0-20: a death that the program announces as "cancelled" is a death, and the turn was lost; from
/// one that lives on it is an end.
#[tokio::test]
async fn cancelled_by_a_dying_program_is_its_death() {
    let mut rig = any(Play::Good);
    rig.opened().await;
    rig.say(1, "give-up die").await;
    let seen = rig.rest().await;
    assert!(!seen.iter().any(|it| matches!(it, RuntimeEvent::Finished { .. })), "{seen:#?}");
    assert_eq!(seen.last(), Some(&RuntimeEvent::Exited { code: -1 }));
    let mut rig = any(Play::Good);
    rig.opened().await;
    let done = rig.ask(1, "give-up alive").await;
    assert!(format!("{:?}", done.result()).contains("ended the turn unasked"), "{done:#?}");
    assert_eq!(rig.ask(2, "hello").await.text(), "you said hello with plain");
}

/// The operator is told what stands in an error's data; and the model of a program that ends the
/// turn over a refusal is told of it.
#[tokio::test]
async fn what_a_program_hides_is_told() {
    let mut rig = any(Play::Good);
    rig.opened().await;
    let done = rig.ask(1, "hide 6 validation errors").await;
    assert!(format!("{:?}", done.result()).contains("Internal error: 6 validation"), "{done:#?}");
    let (done, _) = rig.decided(2, "claim Bash", no()).await;
    assert!(done.text().contains("The tool call was refused: a person refused"), "{done:#?}");
}

/// C7: a session that is refused is replaced by a new one, which works.
#[tokio::test]
async fn a_refused_session_is_replaced() {
    let mut rig = any(Play::RefusesResume);
    let (first, _) = rig.opened().await;
    rig.ask(1, "hello").await;
    rig.runtime.stop(StopReason::Restart).await;
    rig.rest().await;
    rig.options.resume = Some(first.clone());
    let (second, notices) = rig.opened().await;
    assert_ne!(second, first);
    assert!(notices[0].contains("a new one begins"), "{notices:?}");
    let done = rig.ask(2, "hello").await;
    assert_eq!(*done.result(), TurnResult::Completed);
}
