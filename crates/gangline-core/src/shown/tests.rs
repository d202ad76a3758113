//! Tables of what is shown, with real emoji, Persian, Hebrew and flags, and properties over all
//! characters.

use proptest::prelude::*;

use super::*;

const ENGLAND: &str = "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";

#[test]
fn what_shows_nothing_is_written_out_in_what_somebody_decides_on() {
    for (text, expect) in [
        ("rm -rf build", "rm -rf build"),
        ("echo a\u{202e}b", "echo a<U+202E>b"),
        ("a\u{2066}b\u{2069}", "a<U+2066>b<U+2069>"),
        ("a\u{200b}\u{200c}\u{200d}\u{feff}b", "a<U+200B><U+200C><U+200D><U+FEFF>b"),
        ("\u{1b}[2J\u{9b}\0\u{7}\u{7f}", "<U+001B>[2J<U+009B><U+0000><U+0007><U+007F>"),
        ("a\u{2028}b\u{2029}c\u{85}d", "a<U+2028>b<U+2029>c<U+0085>d"),
        ("so\u{ad}ft", "so<U+00AD>ft"),
        ("\u{e0001}\u{e0041}", "<U+E0001><U+E0041>"),
        ("x\u{fe0f}y\u{e0100}z", "x<U+FE0F>y<U+E0100>z"),
        ("\u{115f}\u{3164}\u{ffa0}\u{34f}", "<U+115F><U+3164><U+FFA0><U+034F>"),
        ("žluťoučký кот 猫 e\u{301}", "žluťoučký кот 猫 e\u{301}"),
    ] {
        assert_eq!(code(text), expect, "{text:?}");
        assert_eq!(lines(text), expect, "{text:?}");
        assert_eq!(label(text), expect, "{text:?}");
    }
}

#[test]
fn breaks_tabs_and_blanks_have_a_form_for_each_view() {
    for (text, in_code, in_lines, in_label) in [
        ("a\nb", "a⏎b", "a\nb", "a<U+000A>b"),
        ("a\r\nb", "a<U+000D>⏎b", "a<U+000D>\nb", "a<U+000D><U+000A>b"),
        ("a\tb", "a<U+0009>b", "a\tb", "a<U+0009>b"),
        ("rm\u{a0}x", "rm<U+00A0>x", "rm<U+00A0>x", "rm\u{a0}x"),
        (
            "rm\u{2800}x\u{3000}",
            "rm<U+2800>x<U+3000>",
            "rm<U+2800>x<U+3000>",
            "rm\u{2800}x\u{3000}",
        ),
        ("a⏎b", "a<U+23CE>b", "a⏎b", "a⏎b"),
    ] {
        assert_eq!(code(text), in_code, "{text:?}");
        assert_eq!(lines(text), in_lines, "{text:?}");
        assert_eq!(label(text), in_label, "{text:?}");
    }
}

#[test]
fn emoji_and_languages_come_through_a_conversation_whole() {
    for text in [
        "👩\u{200d}💻 👨\u{200d}👩\u{200d}👧\u{200d}👦 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 👍🏽 🇨🇿",
        "🏳\u{fe0f}\u{200d}🌈 🏴\u{200d}☠\u{fe0f}",
        ENGLAND,
        "\u{1f3f4}\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f} and \
         \u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}!",
        // Texas.
        "\u{1f3f4}\u{e0075}\u{e0073}\u{e0074}\u{e0078}\u{e007f}",
        "می\u{200c}خواهم کتاب\u{200c}ها را بخوانم",
        "שלום\u{200f}! \u{200e}C++\u{200e} היא שפה",
        "العربية\u{61c} 123",
        "क्\u{200d}ष ශ්\u{200d}රී",
        "葛\u{e0100} 辻\u{fe00}",
        "co\u{ad}operate \u{a0}: 10\u{202f}000 a\u{2060}b a\u{200b}b",
        "\u{2}bold\u{2} \u{3}04red\u{f}",
    ] {
        assert_eq!(talk(text), text);
    }
}

#[test]
fn what_turns_or_smuggles_text_is_written_out_in_a_conversation() {
    for (text, expect) in [
        ("a\u{202e}b\u{202c}", "a<U+202E>b<U+202C>"),
        ("\u{202a}\u{202b}\u{202d}", "<U+202A><U+202B><U+202D>"),
        ("\u{2066}\u{2067}\u{2068}\u{2069}", "<U+2066><U+2067><U+2068><U+2069>"),
        ("a\u{2028}b\u{2029}", "a<U+2028>b<U+2029>"),
        ("hi\u{e0068}\u{e0069}", "hi<U+E0068><U+E0069>"),
        ("\u{e0001}\u{e007f}", "<U+E0001><U+E007F>"),
        // Flags that are none: without an end, without a name, too long, of another flag.
        ("\u{1f3f4}\u{e0067}\u{e0062}", "\u{1f3f4}<U+E0067><U+E0062>"),
        ("\u{1f3f4}\u{e007f}", "\u{1f3f4}<U+E007F>"),
        (
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0065}\u{e0065}\u{e0065}\u{e0065}\u{e0065}\u{e007f}",
            "\u{1f3f4}<U+E0067><U+E0062><U+E0065><U+E0065><U+E0065><U+E0065><U+E0065><U+E007F>",
        ),
        ("\u{1f3f3}\u{e0067}\u{e007f}", "\u{1f3f3}<U+E0067><U+E007F>"),
        (
            "\u{1f3f4}\u{e0067}\u{e0062}\u{e0020}\u{e007f}",
            "\u{1f3f4}<U+E0067><U+E0062><U+E0020><U+E007F>",
        ),
    ] {
        assert_eq!(talk(text), expect, "{text:?}");
    }
    let twice = format!("{ENGLAND}{ENGLAND}\u{e0067}");
    assert_eq!(talk(&twice), format!("{ENGLAND}{ENGLAND}<U+E0067>"));
}

#[test]
fn every_character_that_is_to_be_written_out_is_known() {
    // General category Cf, Unicode 16, apart from the ranges of planes 1 and 14.
    let format = "\u{ad}\u{600}\u{601}\u{602}\u{603}\u{604}\u{605}\u{61c}\u{6dd}\u{70f}\u{890}\u{891}\
                  \u{8e2}\u{180e}\u{200b}\u{200c}\u{200d}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\
                  \u{202d}\u{202e}\u{2060}\u{2061}\u{2062}\u{2063}\u{2064}\u{2066}\u{2067}\u{2068}\
                  \u{2069}\u{206a}\u{206b}\u{206c}\u{206d}\u{206e}\u{206f}\u{feff}\u{fff9}\u{fffa}\
                  \u{fffb}\u{110bd}\u{110cd}\u{13430}\u{1343f}\u{1bca0}\u{1d173}\u{e0001}\u{e0020}";
    assert!(format.chars().all(is_hidden));
    let shown = " ~a0é–—…“”€→█💻🏴字あ한\u{301}\u{903}\u{fffd}";
    assert!(!shown.chars().any(is_hidden));
}

proptest! {
    /// Nothing that is hidden is left, nothing that shows is lost, twice is the same as once.
    #[test]
    fn nothing_hidden_is_left(text in any::<String>(), odd in "[\\x00-\\x1f\u{200b}-\u{206f}\u{e0000}-\u{e01ef}🏴a]{0,20}") {
        let text = format!("{text}{odd}");
        let kept = |text: &str| text.chars().filter(|c| !is_hidden(*c)).count();
        for shown in [label(&text), code(&text), lines(&text).replace(['\n', '\t'], "")] {
            prop_assert!(!shown.contains(is_hidden), "{shown:?}");
            prop_assert!(kept(&shown) >= kept(&text) || text.contains(['\n', '\t']));
            prop_assert_eq!(label(&shown), shown);
        }
        let said = talk(&text);
        let turned = |c: char| is_direction(c) || matches!(c, '\u{2028}' | '\u{2029}');
        prop_assert!(!said.contains(turned), "{said:?}");
        prop_assert_eq!(talk(&said), said);
    }
}
