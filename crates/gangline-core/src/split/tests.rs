//! Tests of the splitter.

use proptest::prelude::*;

use super::*;

fn check(text: &str, max_bytes: usize, expect: &[&str]) {
    let split = lines(text, max_bytes, 100, |_| String::new());
    assert_eq!(texts(&split), expect, "{text:?}");
    assert_eq!(split.cut, Cut::Whole);
}

fn texts(split: &Split) -> Vec<&str> {
    split.lines.iter().map(|line| line.text.as_str()).collect()
}

/// The text as a reader has it who joins lines that were cut.
fn joined(split: &Split) -> String {
    split.lines.iter().enumerate().fold(String::new(), |text, (at, line)| match line.joint {
        Joint::Anew if at == 0 => line.text.clone(),
        Joint::Anew => format!("{text}\n{}", line.text),
        Joint::Word => text + &line.text,
        Joint::Space => format!("{text} {}", line.text),
    })
}

#[test]
fn a_line_that_was_cut_says_how_it_goes_on() {
    for (text, joints) in [
        ("one two three", &[Joint::Anew, Joint::Space][..]),
        ("abcdefghij", &[Joint::Anew, Joint::Word]),
        ("one\ntwo", &[Joint::Anew, Joint::Anew]),
        ("one two  three four\nfive", &[Joint::Anew, Joint::Space, Joint::Space, Joint::Anew]),
    ] {
        let split = lines(text, 8, 100, |_| String::new());
        let found: Vec<Joint> = split.lines.iter().map(|line| line.joint).collect();
        assert_eq!(found, joints, "{text:?}");
    }
    let text = "one two three\nabcdefghij\n  indented and long";
    assert_eq!(joined(&lines(text, 8, 100, |_| String::new())), text);
}

#[test]
fn text_is_cut_at_newlines_then_spaces_then_characters() {
    check("one\ntwo\r\nthree\rfour", 50, &["one", "two", "three", "four"]);
    check("one two three", 8, &["one two", "three"]);
    check("one two three", 7, &["one two", "three"]);
    check("abcdefghij", 4, &["abcd", "efgh", "ij"]);
    check("ééé", 4, &["éé", "é"]);
    check("a 𝄞𝄞", 5, &["a", "𝄞", "𝄞"]);
}

#[test]
fn blank_lines_and_controls_are_dropped_and_formatting_stays() {
    check("\n\n a \n \t \nb\n", 50, &[" a", "b"]);
    check("a\0b\u{7}c\u{1b}[1m\u{7f}", 50, &["abc[1m"]);
    check("\u{2}bold\u{2} \u{3}04red\u{f}", 50, &["\u{2}bold\u{2} \u{3}04red\u{f}"]);
    check("\u{1}ACTION waves\u{1}", 50, &["ACTION waves"]);
    check("", 50, &[]);
}

#[test]
fn indentation_is_kept_and_a_line_of_blanks_ends() {
    check("    let x = 1;", 50, &["    let x = 1;"]);
    check(&" ".repeat(30), 10, &[]);
    check(&format!("{}x", " ".repeat(30)), 10, &["x"]);
}

#[test]
fn more_than_the_most_lines_become_one_fewer_and_a_pointer() {
    let text = (1..=14).map(|n| n.to_string()).collect::<Vec<_>>().join("\n");
    let pointer = |left| format!("… (+{left} lines: gangline trace m42)");
    let split = lines(&text, LINE_BYTES, LINES_MAX, pointer);
    assert_eq!(split.lines.len(), 12);
    assert_eq!(split.lines[10].text, "11");
    assert_eq!(split.lines[11], "… (+3 lines: gangline trace m42)".to_owned().into());
    assert_eq!(split.cut, Cut::Left(3));
}

#[test]
fn pieces_of_a_redacted_text_are_redacted() {
    let text = Redacted::constant("one\ntwo");
    let split = redacted_lines(&text, |_| String::new());
    assert_eq!(split.lines, [Redacted::constant("one").into(), Redacted::constant("two").into()]);
}

proptest! {
    /// Every line fits, none is blank or holds a control, and nothing but blanks is lost.
    #[test]
    fn lines_fit_and_lose_nothing(
        text in "[a-c é𝄞 \n\r\t\u{2}\u{1}]{0,120}",
        max_bytes in 1usize..40,
    ) {
        let split = lines(&text, max_bytes, usize::MAX, |_| String::new());
        for line in texts(&split) {
            prop_assert!(line.len() <= max_bytes.max(4), "{:?}", line);
            prop_assert!(!line.trim().is_empty());
            let bare = !line.contains(['\r', '\n', '\0', '\t', '\u{1}']);
            prop_assert!(bare, "{:?}", line);
        }
        let solid = |text: &str| -> String {
            text.chars().filter(|c| !c.is_whitespace() && *c != '\u{1}').collect()
        };
        prop_assert_eq!(solid(&texts(&split).concat()), solid(&text));
    }

    /// The count is kept, whatever the pointer says.
    #[test]
    fn the_most_lines_are_never_exceeded(
        text in "(\\PC{0,10}\n){0,30}",
        most in 1usize..20,
        pointer in ".{0,30}",
    ) {
        let split = lines(&text, 20, most, |_| pointer.clone());
        prop_assert!(split.lines.len() <= most);
        prop_assert!(texts(&split).iter().all(|line| line.len() <= 20));
    }
}
