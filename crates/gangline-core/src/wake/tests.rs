use super::*;

/// R2-30: the label is a program's name and cannot pretend to be anybody else.
#[test]
fn a_label_names_a_program_and_nobody_else() {
    let good = ["matrix", " matrix ", "ci/build:main", "a.b_c-d+e", "owners-portal", "x"];
    for label in good {
        let read: Label = label.parse().unwrap();
        assert_eq!(read.as_str(), label.trim());
        assert_eq!(read.account(), format!("wake:{}", label.trim()));
    }
    let longest = "x".repeat(LABEL_MAX);
    assert_eq!(longest.parse::<Label>().unwrap().as_str(), longest);
    let bad = [
        ("", Refused::NoLabel),
        ("  ", Refused::NoLabel),
        (&*"x".repeat(65), Refused::LongLabel(65)),
        ("[gangline]", Refused::Character('[')),
        ("a b", Refused::Character(' ')),
        ("a\nb", Refused::Character('\n')),
        ("a\u{1b}[1m", Refused::Character('\u{1b}')),
        ("a\u{202e}b", Refused::Character('\u{202e}')),
        ("<ada>", Refused::Character('<')),
        ("@ada", Refused::Character('@')),
        // Cyrillic, and full width.
        ("\u{43e}wner", Refused::Character('\u{43e}')),
        ("\u{ff4f}wner", Refused::Character('\u{ff4f}')),
        ("owner", Refused::Reserved("owner".to_owned())),
        ("OWNER", Refused::Reserved("OWNER".to_owned())),
        ("system", Refused::Reserved("system".to_owned())),
        ("operator", Refused::Reserved("operator".to_owned())),
        ("0wner", Refused::Reserved("0wner".to_owned())),
        ("owner.", Refused::Reserved("owner.".to_owned())),
        ("Owner2", Refused::Reserved("Owner2".to_owned())),
    ];
    for (label, wrong) in bad {
        assert_eq!(label.parse::<Label>(), Err(wrong), "{label:?}");
    }
}

#[test]
fn a_wake_has_a_bounded_body_and_a_bounded_key() {
    let read = |body: &str, key: Option<&str>| Draft::read("matrix", body, key);
    let draft = read(" new dm\nfrom @alice\n", Some("k-1")).unwrap();
    assert_eq!((draft.body.as_str(), draft.key.as_deref()), ("new dm\nfrom @alice", Some("k-1")));
    let largest = "x".repeat(BODY_MAX);
    assert_eq!(read(&largest, None).unwrap().body, largest);
    assert_eq!(read(&format!("{largest}x"), None), Err(Refused::LongBody(BODY_MAX + 1)));
    assert_eq!(read(" \n", None), Err(Refused::NoBody));
    for key in ["", "a b", "a\n", "\u{e4}", &*"k".repeat(KEY_MAX + 1)] {
        assert_eq!(read("x", Some(key)), Err(Refused::Key), "{key:?}");
    }
    assert!(read("x", Some(&*"k".repeat(KEY_MAX))).is_ok());
}

#[test]
fn what_is_refused_is_said_with_what_is_allowed() {
    let said = |label: &str| label.parse::<Label>().unwrap_err().to_string();
    assert_eq!(
        said("a\nb"),
        "the label has the character U+000A, and may have letters a-z, digits and . _ - / : +"
    );
    assert!(said("[gangline]").starts_with("the label has the character [, and"));
    assert_eq!(said(&"x".repeat(70)), "the label has 70 characters, and may have 64");
}
