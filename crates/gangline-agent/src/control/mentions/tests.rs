use super::{is, unknown};

/// F.2: `irc_send` warns of nicks that nobody has.
#[test]
fn names_are_found_where_they_are_meant() {
    let table = [
        ("hello", &[][..]),
        ("@bob and @carol: look", &["bob", "carol"]),
        ("@bob @BOB @Bob", &["bob"]),
        ("mail a@b.example or @", &[]),
        ("(@bob), *@carol*", &["bob", "carol"]),
        ("@oak-ada knows @nobody_", &["nobody_"]),
        ("@1st and @-x are none", &[]),
    ];
    for (text, names) in table {
        assert_eq!(unknown(text, |word| word == "oak-ada"), names, "{text}");
    }
    let many: String = (0..99).map(|n| format!("@n{n} ")).collect();
    assert_eq!(unknown(&many, |_| false).len(), 20);
}

#[test]
fn a_name_is_the_same_in_any_case_and_before_a_dash() {
    assert!(is("Oak-Ada", "oak-ada", "ada") && is("ADA-", "oak-ada", "ada"));
    assert!(is("x[", "X{", "X{"));
    assert!(!is("ad", "oak-ada", "ada"));
}
