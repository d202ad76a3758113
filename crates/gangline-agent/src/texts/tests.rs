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

/// R1-42: where the results are.
#[test]
fn a_finished_task_says_where_its_results_are() {
    let ada = "oak-ada".parse().unwrap();
    for (target, told) in
        [("#lab", " Results in #lab."), ("ori", " Answered ori in private."), ("", "")]
    {
        let expect = format!("[COMPLETE] oak-ada finished task \"build\".{told}");
        assert_eq!(alert_complete(&ada, "build", target), expect);
    }
}
