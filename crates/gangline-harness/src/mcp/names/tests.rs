//! Which keys are taken, and what tools are called.

use super::*;

#[test]
fn keys_are_plain_and_cannot_be_taken_for_anothers() {
    let mut taken = BTreeSet::new();
    for key in ["files", "a-b_c", "X9", "files2"] {
        assert_eq!(check_key(key, &mut taken), Ok(()), "{key}");
    }
    let long = "k".repeat(65);
    for key in ["", "a__b", "_a", "a_", "a b", "ä", "a.b", "a*", "files", long.as_str()] {
        assert!(check_key(key, &mut taken).is_err(), "{key}");
    }
}

/// R2-34: `mcp__<key>__<tool>`, in letters that the API takes.
#[test]
fn a_tools_name_has_its_servers_key_and_plain_letters() {
    for (tool, name) in [
        ("read", Some("mcp__files__read")),
        ("read.all/now", Some("mcp__files__read_all_now")),
        ("größe", Some("mcp__files__gr__e")),
        ("", None),
    ] {
        assert_eq!(tool_name("files", tool).as_deref(), name, "{tool}");
    }
    assert_eq!(tool_name("k", &"t".repeat(120)).map(|name| name.len()), Some(128));
    assert_eq!(tool_name("k", &"t".repeat(121)), None);
}
