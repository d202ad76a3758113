//! Which words can be a backend's name.

use super::Backend;

#[test]
fn a_name_is_a_short_lowercase_word() {
    let long = "a".repeat(64);
    for good in ["claude", "groq-compound", "gpt5.1", "a", "7b", "my_own", &long] {
        assert_eq!(good.parse::<Backend>().map(|it| it.to_string()).as_deref(), Ok(good));
    }
    let too_long = "a".repeat(65);
    for bad in ["", "-a", "a-", ".", "a b", "Ada", "ä", "a/b", "a\n", "../x", &too_long] {
        assert!(bad.parse::<Backend>().is_err(), "{bad:?}");
    }
}

#[test]
fn a_slip_names_what_was_meant() {
    let told = |text: &str| text.parse::<Backend>().unwrap_err().to_string();
    assert_eq!(told("Claude"), "`Claude` is not a backend's name: did you mean `claude`?");
    assert_eq!(told("open code"), "`open code` is not a backend's name: did you mean `opencode`?");
    assert_eq!(told("?"), "`?` is not a backend's name");
}

#[test]
fn nothing_invalid_gets_in_by_deserialising() {
    assert!(serde_json::from_str::<Backend>(r#""a b""#).is_err());
    let backend: Backend = serde_json::from_str(r#""codex""#).unwrap();
    assert_eq!(serde_json::to_string(&backend).unwrap(), r#""codex""#);
}
