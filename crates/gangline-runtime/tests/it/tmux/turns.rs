//! Programs that read lines: delivery, answers, interrupts.

use gangline_runtime::{Command, Prompt, Refusal, RuntimeEvent, TurnResult};
use serde_json::json;

use super::rig::{Rig, turn};

fn bash() -> Rig {
    Rig::new(&["bash", "--norc", "--noprofile"], json!({}))
}

/// R3-01, C29: a message is typed into the program, and what it shows is the answer.
#[tokio::test]
async fn what_a_program_shows_is_the_answer() {
    let mut rig = bash();
    rig.start().await;
    let done = rig.ask(1, "echo one; echo; echo '  two'").await;
    assert_eq!(done.text(), "one\n\n  two");
    assert_eq!(done.result(), &TurnResult::Completed);
    assert!(matches!(done.0[0], RuntimeEvent::Accepted { .. }), "{done:?}");
    // It waits as long as it takes, whatever looks like an end on the way.
    let done = rig.ask(2, "printf 'not yet $ '; sleep 3; echo over").await;
    assert_eq!(done.text(), "not yet $ over");
    // Long lines and many of them.
    let done = rig.ask(3, "seq 1 500; printf 'x%.0s' $(seq 1 900); echo").await;
    let lines: Vec<String> = done.text().lines().map(ToOwned::to_owned).collect();
    assert_eq!(lines.len(), 501);
    assert_eq!((lines[0].as_str(), lines[500].len()), ("1", 900));
    // The screen is emptied.
    let done = rig.ask(4, "clear; echo fresh").await;
    assert_eq!(done.text(), "fresh");
    // A command that says nothing has done what it should.
    let done = rig.ask(5, "true").await;
    assert_eq!((done.text().as_str(), done.result()), ("", &TurnResult::Completed));
    assert_eq!(rig.tmux(&["show-environment", "-g", "TMUX"]), "");
    assert_eq!(rig.ask(6, "echo \"t=$TMUX.\"").await.text(), "t=.");
    rig.put_away().await;
}

/// C29: what is only the beginning of a command is taken back, so that the next message is not
/// taken for its rest.
#[tokio::test]
async fn a_quotation_without_an_end_does_not_swallow_the_next_message() {
    let python = Rig::new(&["python3", "-q"], json!({}));
    for (mut rig, half, whole) in
        [(bash(), "echo what's up", "echo two"), (python, "print((1,", "print('two')")]
    {
        rig.start().await;
        let done = rig.ask(1, half).await;
        assert!(done.why().contains("wants the rest of what was typed"), "{done:?}");
        assert_eq!(rig.ask(2, whole).await.text(), "two");
        rig.put_away().await;
    }
}

/// A line editor that shows a long line by its end alone, as aider's does, gets it and is seen to
/// have it.
#[tokio::test]
async fn a_long_message_reaches_an_input_of_one_row() {
    let mut rig = bash();
    let settings = rig.path("inputrc");
    std::fs::write(&settings, "set horizontal-scroll-mode on\n").unwrap();
    rig.options.env.push(("INPUTRC".to_owned(), settings.display().to_string()));
    rig.start().await;
    for (number, length) in [(1, 100), (2, 150), (3, 155), (4, 400), (5, 1500)] {
        let text = "word ".repeat(length / 5);
        let done = rig.ask(number, &format!("echo {text}")).await;
        assert_eq!(done.text(), text.trim_end(), "{length}: {done:?}");
    }
    rig.put_away().await;
}

/// A line editor that begins each row of a long line with the sign of its prompt, as aider's does,
/// gets it and is seen to have it.
#[tokio::test]
async fn a_long_message_reaches_an_input_with_a_sign_in_each_row() {
    let program = r#"
import os, tty
tty.setraw(0)
out = lambda text: os.write(1, text.encode())
columns = os.get_terminal_size(1).columns
line, at = "", 2
out("> ")
while True:
    c = os.read(0, 1).decode()
    if c == "\r":
        out(f"\r\ngot {len(line)}: {line[-9:]}\r\n> ")
        line, at = "", 2
    elif c == "\x04":
        break
    elif c.isprintable():
        if at == columns:
            out("\r\n> ")
            at = 2
        out(c)
        line, at = line + c, at + 1
"#;
    let mut rig = Rig::python(program, json!({"like": "lines"}));
    rig.start().await;
    for (number, length) in [(1, 20), (2, 155), (3, 160), (4, 290), (5, 1500)] {
        let text = "a > b ".repeat(length / 6) + "the end";
        let done = rig.ask(number, &text).await;
        assert_eq!(done.text(), format!("got {}: b the end", text.len()), "{length}: {done:?}");
    }
    rig.put_away().await;
}

/// R3-08: a prompt from before the program is ready waits for that.
#[tokio::test]
async fn a_first_prompt_waits_for_the_start() {
    let mut rig = bash();
    rig.options.initial_prompt =
        Some(Prompt { turn: turn(1), text: "echo early".to_owned(), uuid: "u".to_owned() });
    rig.begin().await;
    assert!(rig.runtime.session().unwrap().ready_at.is_none());
    let done = rig.done().await;
    assert!(matches!(done.0[0], RuntimeEvent::Ready { .. }), "{done:?}");
    assert_eq!(done.text(), "early");
    rig.put_away().await;
}

/// R3-08: a program whose prompt nobody knows is given time, and tried.
#[tokio::test]
async fn a_slow_starter_without_a_prompt_is_given_its_time() {
    let program = r#"
import sys, time, termios
time.sleep(1) # // sleep: this is what a slow starter does
termios.tcflush(0, termios.TCIFLUSH)
for line in sys.stdin:
    print("you said", line.strip(), flush=True)
"#;
    let screen = json!({"like": "plain", "warm_up_ms": 8000, "quiet_ms": 1500});
    let mut rig = Rig::python(program, screen);
    rig.start().await;
    assert_eq!(rig.ask(1, "hello\nthere").await.text(), "you said hello there");
    assert_eq!(rig.ask(2, "again").await.text(), "you said again");
    rig.put_away().await;
}

/// R3-07, C29, C45: a program that swallows what is typed is told of, and nothing is assumed.
#[tokio::test]
async fn a_message_that_is_not_seen_to_arrive_has_failed() {
    let program = r#"
import sys, time, tty, os
tty.setraw(0)
sys.stdout.write("$ "); sys.stdout.flush()
n = 0
while True:
    os.read(0, 65536)
"#;
    let screen = json!({"like": "shell", "deliver_within_ms": 4000});
    let mut rig = Rig::python(program, screen);
    rig.start().await;
    let done = rig.ask(1, "hello").await;
    assert!(done.why().contains("could not be seen to arrive within 4 s"), "{done:?}");
    assert!(!done.0.iter().any(|event| matches!(event, RuntimeEvent::Accepted { .. })));
    rig.runtime.stop(gangline_runtime::StopReason::Stuck).await;
    assert_eq!(rig.run_processes(), []);
}

/// R3-07: keys that were lost are pressed again, and the message arrives once.
#[tokio::test]
async fn keys_that_are_lost_at_first_are_typed_again() {
    // Swallows the first paste and the first Enter after the second.
    let program = r#"
import sys, tty, os
tty.setraw(0)
out = sys.stdout
def show(text):
    out.write(text); out.flush()
show("$ ")
text, lost_paste, lost_enter = "", False, False
while True:
    for c in os.read(0, 65536).decode():
        if c == "\r":
            if not lost_enter:
                lost_enter = True
                continue
            show("\r\nyou said " + text + "\r\n$ ")
            text = ""
        elif c == "\x15":
            text = ""
            show("\r\x1b[K$ ")
        elif lost_paste:
            text += c
            show(c)
        elif c == "o":
            lost_paste = True
"#;
    let mut rig = Rig::python(program, json!({"like": "shell"}));
    rig.start().await;
    assert_eq!(rig.ask(1, "hello").await.text(), "you said hello");
    assert_eq!(rig.ask(2, "again").await.text(), "you said again");
    rig.put_away().await;
}

/// C29: what is in a message is text: no key, no control character, no end of a paste.
#[tokio::test]
async fn a_message_is_never_a_key() {
    let mut rig = bash();
    rig.options.extra.insert("screen".to_owned(), json!({"paste": "bracketed"}));
    rig.start().await;
    let nasty = "echo 'a\u{1b}[201~\u{3}\u{4}b\u{7f}\u{8}\u{9b}c\td'";
    assert_eq!(rig.ask(1, nasty).await.text(), "a[201~bc    d");
    let lines = "cat <<'END'\n$ \n❯ one\nesc to interrupt\nEND";
    let done = rig.ask(2, lines).await;
    assert_eq!(done.text().lines().count(), 3, "{done:?}");
    assert_eq!(rig.ask(3, "echo ünïcödé 日本語 🐕 `echo x`;").await.text(), "ünïcödé 日本語 🐕 x");
    rig.put_away().await;
}

/// C29: a message of 100 kB arrives whole.
#[tokio::test]
async fn a_huge_message_arrives_whole() {
    let mut rig = bash();
    rig.options.extra.insert("screen".to_owned(), json!({"paste": "bracketed"}));
    rig.start().await;
    let body = "0123456789abcdef ".repeat(6_000);
    let done = rig.ask(1, &format!("x='{body}'; echo ${{#x}}")).await;
    assert_eq!(done.text().lines().last(), Some("102000"), "{:?}", done.result());
    // The kernel's own line takes 4095 bytes; what it drops is missed.
    let screen =
        json!({"like": "plain", "quiet_ms": 1500, "warm_up_ms": 1500, "deliver_within_ms": 10_000});
    let mut cat = Rig::new(&["cat"], screen);
    cat.start().await;
    let done = cat.ask(1, &"z".repeat(5000)).await;
    assert!(done.why().contains("could not be seen to arrive"), "{done:?}");
    assert_eq!(cat.ask(2, "still here").await.text(), "still here");
    cat.put_away().await;
    rig.put_away().await;
}

/// R0-08: an interrupt ends the turn; the program goes on.
#[tokio::test]
async fn an_interrupt_ends_the_turn() {
    let mut rig = bash();
    rig.start().await;
    rig.say(1, "touch busy; sleep 600").await;
    rig.until_accepted().await;
    rig.until_there("work/busy").await;
    let second = Prompt { turn: turn(2), text: "x".into(), uuid: "u".into() };
    let why = rig.runtime.refused(Command::Prompt(second)).await;
    assert!(matches!(why, Refusal::Busy { .. }));
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(rig.done().await.result(), &TurnResult::Interrupted);
    assert_eq!(rig.ask(2, "echo back").await.text(), "back");
    rig.put_away().await;
}

/// Somebody looks back in the terminal, and has left half a line: the message arrives all the same.
#[tokio::test]
async fn what_a_human_left_is_put_away_first() {
    let mut rig = bash();
    rig.start().await;
    rig.tmux(&["send-keys", "-l", "rm -rf half a line"]);
    rig.until_shown("half a line").await;
    rig.tmux(&["copy-mode"]);
    assert_eq!(rig.ask(1, "echo clean").await.text(), "clean");
    rig.put_away().await;
}
