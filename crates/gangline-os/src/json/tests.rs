//! Tests of the lenient reader: every kind of half, at every place; and that nothing else changes.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

fn check(text: &str, expect: Option<&str>) {
    let mended = without_halves(text).map(|(text, _)| text);
    assert_eq!(mended.as_deref(), expect, "{text}");
}

#[test]
fn a_half_alone_is_replaced_and_a_pair_stays() {
    for (text, expect) in [
        (r#""plain""#, None),
        (r#""\ud83d\ude00""#, None),
        (r#""\uD83D\uDE00""#, None),
        (r#""\uD83d\uDe00""#, None),
        (r#""a\nb\u0041""#, None),
        (r#""\ud83d""#, Some("\"\u{fffd}\"")),
        (r#""\uD83D""#, Some("\"\u{fffd}\"")),
        (r#""\uDFFF""#, Some("\"\u{fffd}\"")),
        (r#""\ud800x""#, Some("\"\u{fffd}x\"")),
        (r#""x\udbff""#, Some("\"x\u{fffd}\"")),
        (r#""\udc00\ud83d""#, Some("\"\u{fffd}\u{fffd}\"")),
        (r#""\ud83d\ud83d\ude00""#, Some("\"\u{fffd}\\ud83d\\ude00\"")),
        (r#""\ud83d\ude00\ude00""#, Some("\"\\ud83d\\ude00\u{fffd}\"")),
        (r#""\ud83d \ude00""#, Some("\"\u{fffd} \u{fffd}\"")),
        (r#""\ud83d\n""#, Some("\"\u{fffd}\\n\"")),
        // The backslash is the character, and what follows it is plain text.
        (r#""\\ud83d""#, None),
        (r#""\\\ud83d""#, Some("\"\\\\\u{fffd}\"")),
        (r#""\\\\ud83d\\""#, None),
        (r#""\"\ud83d\"""#, Some("\"\\\"\u{fffd}\\\"\"")),
        // The escapes around the surrogates, and what is no escape.
        (r#""\ud7ff\ue000""#, None),
        (r#""\ud8g0""#, None),
        (r#""\ud8"#, None),
        (r#""\"#, None),
        ("\"\\ud83\u{e9}\"", None),
        ("\"\u{1f600}\\ud83d\u{1f600}\"", Some("\"\u{1f600}\u{fffd}\u{1f600}\"")),
        (r#"{"k\udc00":["\ud800"]}"#, Some("{\"k\u{fffd}\":[\"\u{fffd}\"]}")),
        ("", None),
    ] {
        check(text, expect);
    }
}

#[test]
fn a_text_is_read_with_its_halves_and_a_broken_one_is_an_error_still() {
    assert_eq!(from_str::<Value>(r#"["a\ud83d"]"#).unwrap(), serde_json::json!(["a\u{fffd}"]));
    assert_eq!(from_slice::<String>(br#""\uDFFF""#).unwrap(), "\u{fffd}");
    assert_eq!(from_slice::<String>(br#""\ud83d\ude00""#).unwrap(), "\u{1f600}");
    from_str::<Value>(r#"["\ud83d""#).unwrap_err();
    from_str::<String>(r#"["\ud83d"]"#).unwrap_err();
    from_slice::<String>(b"\"\xff\\ud83d\"").unwrap_err();
}

/// Reads the pieces of one text and puts them together.
fn joined(pieces: &[&str]) -> String {
    let mut joiner = Joiner::default();
    let mut text = String::new();
    for piece in pieces {
        let line = format!(r#"{{"id":"d1","text":"{piece}"}}"#);
        let (value, edges) = read(&line, |line| serde_json::from_str::<Value>(line));
        let piece = value.unwrap()["text"].as_str().unwrap().to_owned();
        text.push_str(&joiner.join(piece, edges));
    }
    text.extend(joiner.end());
    text
}

#[test]
fn a_pair_that_was_cut_is_one_character_again() {
    for (pieces, expect) in [
        (&[r"a \ud83d", r"\ude80 b"] as &[_], "a \u{1f680} b"),
        (&[r"\ud83d", r"\ude80"], "\u{1f680}"),
        (&[r"\ud83d", "", r"\ude80"], "\u{1f680}"),
        (&[r"\ud83d", r"\ude80\ud83d", r"\ude80"], "\u{1f680}\u{1f680}"),
        // Halves that fit nothing.
        (&[r"a\ud83d"], "a\u{fffd}"),
        (&[r"a\ud83d", "b"], "a\u{fffd}b"),
        (&[r"a\ud83d", r"b\ude80"], "a\u{fffd}b\u{fffd}"),
        (&[r"a\ud83d", r"\ud83d\ude80"], "a\u{fffd}\u{1f680}"),
        (&[r"a\ud83d", r"\ud83d", r"\ude80"], "a\u{fffd}\u{1f680}"),
        (&["a", r"\ude80"], "a\u{fffd}"),
        (&[r"a\ude80", r"\ude80"], "a\u{fffd}\u{fffd}"),
        // What is U+FFFD already stays so.
        (&["a\u{fffd}", r"\ude80"], "a\u{fffd}\u{fffd}"),
        (&[r"a\ud83d", "\u{fffd}b"], "a\u{fffd}\u{fffd}b"),
        // An escaped quote is no edge.
        (&[r"\ud83d", r#"\"\ude80"#], "\u{fffd}\"\u{fffd}"),
    ] {
        assert_eq!(joined(pieces), expect, "{pieces:?}");
    }
}

#[test]
fn a_value_is_found_in_a_text_that_cannot_be_read() {
    for (text, path, expect) in [
        (r#"{"id":7,"x":"#, &["id"] as &[_], Some("7")),
        (r#"{"id" : "a\"b" , broken"#, &["id"], Some(r#""a\"b""#)),
        (r#"{"id":7"#, &["id"], None),
        (r#"{"id":"cut"#, &["id"], None),
        (r#"{"x":{"id":1},"id":2}"#, &["id"], Some("2")),
        (r#"{"x":[{"id":1}],"y":"\"id\":3","id":2}"#, &["id"], Some("2")),
        (r#"{"x":"id","id":2}"#, &["id"], Some("2")),
        (r#"{"a":{"c":{"b":0},"b":"t"}}"#, &["a", "b"], Some(r#""t""#)),
        (r#"{"z":{"b":1},"a":{"x":[[{"b":5}]],"b":-2.5}}"#, &["a", "b"], Some("-2.5")),
        (r#"{"a":[{"b":1}],"b":2}"#, &["a", "b"], None),
        (r#"{"id":null}"#, &["id"], None),
        (r#"{"id":{"id":1}}"#, &["id"], None),
        (r#"[{"id":1}]"#, &["id"], None),
        ("banner {\"id\":1}", &["id"], Some("1")),
        ("}}}]{\"id\":1}", &["id"], Some("1")),
        (r#"{"id":1}"#, &[], None),
        ("", &["id"], None),
        (r#"{"x":"\"#, &["id"], None),
    ] {
        assert_eq!(find(text, path), expect, "{text}");
    }
    assert_eq!(find_text(r#"{"m":"a\ud83d","#, &["m"]).as_deref(), Some("a\u{fffd}"));
    assert_eq!(find_text(r#"{"m":7}"#, &["m"]), None);
}

/// One piece of a string in JSON, and whether it is half a character.
fn piece() -> impl Strategy<Value = (String, bool)> {
    prop_oneof![
        "[a-z0-9 é🚀]{0,3}".prop_map(|it| (it, false)),
        prop::sample::select(vec![r"\\", r"\n", r#"\""#, r"\u0041", r"\\u", r"\ud83d\ude00"])
            .prop_map(|it| (it.to_owned(), false)),
        (0xd800_u32..0xe000, any::<bool>()).prop_map(|(unit, upper)| {
            (if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") }, true)
        }),
    ]
}

proptest! {
    #[test]
    fn what_differs_by_halves_alone_is_read_and_what_can_be_read_is_not_changed(
        pieces in prop::collection::vec(piece(), 0..12),
        broken in any::<bool>(),
    ) {
        let inner: String = pieces.iter().map(|(piece, _)| piece.as_str()).collect();
        let line = format!("{{\"t\":\"{inner}\"{}", if broken { "" } else { "}" });
        let strict = serde_json::from_str::<Value>(&line);
        match &strict {
            Ok(_) => prop_assert_eq!(without_halves(&line), None),
            Err(_) => prop_assert_eq!(from_str::<Value>(&line).is_ok(), !broken),
        }
        if pieces.iter().all(|(_, half)| !half) {
            prop_assert_eq!(strict.is_ok(), !broken);
        }
    }

    #[test]
    fn any_text_is_taken(text in "(\\\\|u|[dD]8[0-9a-f]{2}|\"|[:{}\\[\\],]|id|é|🚀|.){0,40}") {
        if let Some((mended, _)) = without_halves(&text) {
            prop_assert!(serde_json::from_str::<Value>(&text).is_err());
            prop_assert_eq!(without_halves(&mended), None);
        }
        for path in [&["id"] as &[_], &["id", "u"]] {
            if let Some(found) = find(&text, path) {
                prop_assert!(text.contains(found));
            }
        }
    }

    #[test]
    fn a_text_is_the_same_however_it_is_cut(text in "[a🚀é😀]{0,12}", cut in any::<prop::sample::Index>()) {
        let units: Vec<u16> = text.encode_utf16().collect();
        let (one, two) = units.split_at(cut.index(units.len() + 1));
        let escaped = |units: &[u16]| units.iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
        prop_assert_eq!(joined(&[&escaped(one), &escaped(two)]), text);
    }
}
