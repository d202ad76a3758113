use super::{in_line, remarks};

#[test]
fn a_letter_that_passes_for_another_one_is_named() {
    for (text, expect) in [
        ("\u{440}m -rf x", "in `\u{440}m` stands `\u{440}` (U+0440), which looks like `p`"),
        (
            "/usr/bin/\u{441}url x",
            "in `\u{441}url` stands `\u{441}` (U+0441), which looks like `c`",
        ),
        (
            "ls; \u{441}\u{441} x",
            "in `\u{441}\u{441}` stands `\u{441}` (U+0441), which looks like `c`",
        ),
        ("ls \u{ff1b} id", "in `\u{ff1b}` stands `\u{ff1b}` (U+FF1B), which looks like `;`"),
        ("r\u{ff4d} x", "in `r\u{ff4d}` stands `\u{ff4d}` (U+FF4D), which looks like `m`"),
        ("rm \u{2212}rf x", "in `\u{2212}rf` stands `\u{2212}` (U+2212), which looks like `-`"),
        ("cat ..\u{2215}x", "in `\u{2215}x` stands `\u{2215}` (U+2215), which looks like `/`"),
        ("g\u{3b9}t push", "in `g\u{3b9}t` stands `\u{3b9}` (U+03B9), which looks like `i`"),
        ("a\u{44f}b", "`a\u{44f}b` mixes Latin letters with `\u{44f}` (U+044F)"),
    ] {
        assert_eq!(remarks(text), [expect], "{text}");
    }
}

#[test]
fn what_people_write_in_their_language_is_left_alone() {
    for text in [
        "plain text",
        "git commit -m 'исправил ошибку в файле, а он со мной'",
        "git commit -m 'διόρθωσα το λάθος'",
        "echo Łódź naïve Ærø Straße … “quoted” — don’t",
        "echo 文件file 日本語 한국어",
        "cat résumé.txt",
    ] {
        assert_eq!(remarks(text), [""; 0], "{text}");
    }
}

#[test]
fn a_few_are_named_and_the_rest_is_counted() {
    let notes = remarks("\u{440}m1 \u{440}m2 \u{440}m3 \u{440}m4 \u{440}m1");
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert_eq!(notes[2], "2 more words have letters that look like others");
}

/// In a file nobody knows which word is a command's name, and most of it is said to people.
#[test]
fn a_line_of_a_file_tells_of_letters_that_pass_for_others() {
    for (line, expect) in [
        ("if (\u{441} == 1) {", "in `\u{441}` stands `\u{441}` (U+0441), which looks like `c`"),
        ("  \u{440}m -rf x", "in `\u{440}m` stands `\u{440}` (U+0440), which looks like `p`"),
        ("let \u{3bd} = v;", "in `\u{3bd}` stands `\u{3bd}` (U+03BD), which looks like `v`"),
        ("x \u{ff1d} 1", "in `\u{ff1d}` stands `\u{ff1d}` (U+FF1D), which looks like `=`"),
    ] {
        assert_eq!(in_line(line).as_deref(), Some(expect), "{line}");
    }
    for line in [
        "plain = 1",
        "# Нора",
        "// исправил ошибку, это API",
        "area: 12 m² ①",
        "说明（API）！",
        "naïve — “quoted” résumé",
    ] {
        assert_eq!(in_line(line), None, "{line}");
    }
}
