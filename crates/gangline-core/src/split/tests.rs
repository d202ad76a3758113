//! Tests of the splitter.

use proptest::prelude::*;

use super::*;

fn check(text: &str, max_bytes: usize, expect: &[&str]) {
    let split = lines(text, max_bytes, 100, |_| String::new());
    assert_eq!(split.lines, expect, "{text:?}");
    assert_eq!(split.cut, Cut::Whole);
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
    assert_eq!(split.lines[10], "11");
    assert_eq!(split.lines[11], "… (+3 lines: gangline trace m42)");
    assert_eq!(split.cut, Cut::Left(3));
}

#[test]
fn pieces_of_a_redacted_text_are_redacted() {
    let text = Redacted::constant("one\ntwo");
    let split = redacted_lines(&text, |_| String::new());
    assert_eq!(split.lines, [Redacted::constant("one"), Redacted::constant("two")]);
}

proptest! {
    /// Every line fits, none is blank or holds a control, and nothing but blanks is lost.
    #[test]
    fn lines_fit_and_lose_nothing(
        text in "[a-c é𝄞 \n\r\t\u{2}\u{1}]{0,120}",
        max_bytes in 1usize..40,
    ) {
        let split = lines(&text, max_bytes, usize::MAX, |_| String::new());
        for line in &split.lines {
            prop_assert!(line.len() <= max_bytes.max(4), "{:?}", line);
            prop_assert!(!line.trim().is_empty());
            let bare = !line.contains(['\r', '\n', '\0', '\t', '\u{1}']);
            prop_assert!(bare, "{:?}", line);
        }
        let solid = |text: &str| -> String {
            text.chars().filter(|c| !c.is_whitespace() && *c != '\u{1}').collect()
        };
        prop_assert_eq!(solid(&split.lines.concat()), solid(&text));
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
        prop_assert!(split.lines.iter().all(|line| line.len() <= 20));
    }
}
