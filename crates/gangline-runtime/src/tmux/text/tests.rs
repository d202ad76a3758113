//! What is typed and what is read.

use proptest::prelude::*;

use super::*;

fn profile(name: &str) -> Profile {
    Profile::of(std::path::Path::new(name), None).unwrap()
}

fn answer(name: &str, prompt: &str, screen: &str) -> String {
    let lines = screen.lines().map(ToOwned::to_owned).collect();
    let captured = Captured { lines, overflowed: false };
    Since { captured: &captured, prompt }.answer(&profile(name))
}

#[test]
fn what_is_typed_has_no_keys_in_it() {
    let nasty = "a\u{1b}[201~\r\nb\tc\u{3}\u{9b}\rd\n\n";
    assert_eq!(typed(nasty, Paste::Bracketed), "a[201~\nb    c\nd");
    assert_eq!(typed(nasty, Paste::OneLine), "a[201~ b    c d");
}

#[test]
fn a_text_is_seen_whole_and_once() {
    let shell = profile("bash");
    let receipt = Receipt::of("echo hello");
    let whole = |input| receipt.seen(input, Sight::Whole { before: "$" }, &shell);
    assert!(whole("$echohello") && whole("echohello"));
    for other in ["$", "$echohell", "$echoechohello", "$echohelloo", ""] {
        assert!(!whole(other), "{other}");
    }
    let long = Receipt::of(&("x".repeat(100) + "the very end of it, with a point."));
    assert!(long.seen("beginning is gone: theveryendofit,withapoint.", Sight::End, &shell));
    assert!(!long.seen("theveryendofit,withapoint", Sight::End, &shell));
    // What a terminal may show as something else does not count, unless there is nothing else.
    assert!(Receipt::of("🐕 hi").seen("$hi", Sight::Whole { before: "$" }, &shell));
    assert!(Receipt::of("🐕").seen("$?", Sight::Whole { before: "$" }, &shell));
    assert!(!Receipt::of("🐕").seen("$", Sight::Whole { before: "$" }, &shell));
    let claude = profile("claude");
    assert!(long.seen("[Pastedtext#1+12lines]", Sight::End, &claude));
    assert!(!long.seen("[Pastedtext#1+12lines]", Sight::End, &shell));
}

#[test]
fn an_answer_of_lines_ends_before_the_next_prompt() {
    assert_eq!(answer("bash", "x", "one\n\n  two\n$\n\n\n"), "one\n\n  two");
    assert_eq!(answer("bash", "x", "\n\n$ \n"), "");
    assert_eq!(answer("bash", "x", "no prompt here"), "no prompt here");
    // Nothing is known of it: all that came.
    assert_eq!(answer("other", "x", "one\n> \n"), "one\n>");
}

#[test]
fn an_answer_of_a_box_is_its_last_block_without_frames() {
    let screen = "\
❯ say hi
  twice

● Bash(ls)
  ⎿  notes.txt

● hi

  - a
    - b

✻ Cooked for 2s

────────────────
❯ Try \"something\"
────────────────
  ⏵⏵ auto mode on
";
    assert_eq!(answer("claude", "say hi\ntwice", screen), "hi\n\n- a\n  - b");
    let codex =
        "› old\n\n• before\n\n› say hi\n\n• hi\n\n  Worked for 1s\n\n› Ask Codex\n\n  gpt-5\n";
    assert_eq!(answer("codex", "say hi", codex), "hi");
    // Nothing was said since: what stands above the message is no answer to it.
    assert_eq!(answer("codex", "say hi", "• before\n\n› say hi\n\n› Ask Codex\n"), "");
}

#[test]
fn an_answer_is_bounded_and_says_so() {
    let line = "0123456789".repeat(10) + "é";
    let lines: Vec<String> = (0..4000).map(|_| line.clone()).collect();
    let captured = Captured { lines, overflowed: false };
    let text = Since { captured: &captured, prompt: "" }.answer(&profile("other"));
    assert!(text.len() <= ANSWER_MAX && text.len() > ANSWER_MAX - 200, "{}", text.len());
    assert!(text.starts_with(CUT) && text[CUT.len()..].lines().all(|it| it == line));
    let captured = Captured { lines: vec!["end".into()], overflowed: true };
    let text = Since { captured: &captured, prompt: "" }.answer(&profile("other"));
    assert_eq!(text, format!("{CUT}end"));
}

proptest! {
    /// No text becomes a key, and typing it twice changes nothing.
    #[test]
    fn typed_text_holds_no_control_character(text in any::<String>()) {
        for paste in [Paste::Bracketed, Paste::OneLine] {
            let once = typed(&text, paste);
            prop_assert!(once.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert_eq!(paste == Paste::OneLine, paste == Paste::OneLine && !once.contains('\n'));
            prop_assert_eq!(typed(&once, paste), once);
        }
    }

    /// A text that is shown, wherever it is broken, is seen; a part of it is not.
    #[test]
    fn what_is_shown_is_seen(text in "[a-z0-9 .,é]{2,200}", at in 0usize..200, cut in 1usize..50) {
        let shell = profile("bash");
        let receipt = Receipt::of(&text);
        let chars: Vec<char> = text.chars().collect();
        let (head, tail) = chars.split_at(at.min(chars.len()));
        let broken = squash(&head.iter().chain(&['\n']).chain(tail).collect::<String>());
        prop_assume!(!broken.is_empty());
        let whole = Sight::Whole { before: "" };
        let (in_one, at_the_end) =
            (receipt.seen(&broken, whole, &shell), receipt.seen(&broken, Sight::End, &shell));
        prop_assert!(in_one && at_the_end);
        let less: String = broken.chars().take(broken.chars().count().saturating_sub(cut)).collect();
        let seen = receipt.seen(&less, whole, &shell);
        prop_assert!(!seen);
    }

    /// Whatever is on the screen, its answer is bounded and has no empty lines around it.
    #[test]
    fn any_screen_has_an_answer(
        lines in proptest::collection::vec("[ a-z❯›●•─$>é]{0,20}", 0..30),
        prompt in "[a-z ]{0,10}",
        name in "claude|codex|bash|other",
    ) {
        let captured = Captured { lines, overflowed: false };
        let text = Since { captured: &captured, prompt: &prompt }.answer(&profile(&name));
        prop_assert!(text.len() <= ANSWER_MAX);
        prop_assert!(!text.starts_with('\n') && !text.ends_with('\n'));
    }
}
