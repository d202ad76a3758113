use super::*;

/// C5: everybody sees in WHOIS that tools run unasked, whoever decided it.
#[test]
fn whois_says_that_tools_run_unasked() {
    for (permissions, unasked, name) in [
        (Permissions::Ask, None, "gangline agent (x)"),
        (Permissions::Allowlist, None, "gangline agent (x)"),
        (Permissions::Bypass, None, "gangline agent (x), permissions: BYPASS"),
        (Permissions::Bypass, Some("Bash"), "gangline agent (x), permissions: BYPASS"),
        (Permissions::Ask, Some("Bash"), "gangline agent (x), permissions: ask DOES NOT HOLD"),
    ] {
        assert_eq!(realname("x", permissions, unasked), name);
    }
}
