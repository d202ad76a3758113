//! The table of permissions.

use super::*;

fn check(mode: Permissions, tool: &str, expect: Permit) {
    assert_eq!(Policy::new(mode).permit(tool), expect, "{mode} {tool}");
}

fn deny(tool: &str) -> Permit {
    Permit::Deny(format!("{tool} is not on this agent's list of allowed tools"))
}

/// C5, R1-04.
#[test]
fn each_mode_has_its_own_list() {
    for tool in ["Read", "Glob", "Grep", "TodoWrite", "Skill"] {
        check(Permissions::Ask, tool, Permit::Allow);
    }
    for tool in ["Bash", "Edit", "Write", "WebFetch", "Task"] {
        check(Permissions::Ask, tool, Permit::Ask);
        check(Permissions::Bypass, tool, Permit::Allow);
    }
}

/// R2-42: what is not on the list is denied, the tools it leaves out among it.
#[test]
fn the_allow_list_denies_by_omission() {
    for tool in ["Bash", "Edit", "Glob", "Grep", "Read", "TodoWrite", "Write"] {
        check(Permissions::Allowlist, tool, Permit::Allow);
    }
    for tool in ["WebFetch", "WebSearch", "Task", "NotebookEdit", "bash", ""] {
        check(Permissions::Allowlist, tool, deny(tool));
    }
}

#[test]
fn our_own_tools_are_always_allowed_and_only_ours() {
    for mode in Permissions::ALL {
        for tool in ["send", "no_reply", "mcp__gangline__send", "mcp__hyperhive__send"] {
            check(*mode, tool, Permit::Allow);
        }
    }
    check(Permissions::Allowlist, "mcp__other__send", deny("mcp__other__send"));
    check(Permissions::Ask, "mcp__gangline__spawn", Permit::Ask);
    check(Permissions::Ask, "mcp__gangline____send", Permit::Ask);
}

/// R2-34: one entry may mean the tools of one MCP server, and of no other.
#[test]
fn an_entry_may_mean_the_tools_of_one_server() {
    let list = ["mcp__files__*", "mcp__git__log*", "mcp__*", "mcp____*", "B*"];
    let list = list.map(str::to_owned).to_vec();
    let policy = Policy::of_agent(Permissions::Allowlist, &list, []);
    for tool in ["mcp__files__read", "mcp__files__write_all", "mcp__git__log", "mcp__git__log_of"] {
        assert_eq!(policy.permit(tool), Permit::Allow, "{tool}");
    }
    for tool in [
        "mcp__files__",
        "mcp__filesystem__read",
        "mcp__git__push",
        "mcp__other__read",
        "mcp____x",
        "Bash",
        "files__read",
    ] {
        assert_eq!(policy.permit(tool), deny(tool), "{tool}");
    }
}

/// R2-34, C5: the tools that an MCP server's entry lists run unasked in every mode, and no others
/// of it; under `ask` an agent's own list counts for MCP servers only.
#[test]
fn the_tools_that_a_servers_entry_lists_run_unasked() {
    let (tools, all) = (["log", "diff_*"].map(str::to_owned), ["*".to_owned()]);
    let servers = [("git", tools.as_slice()), ("docs", all.as_slice())];
    let listed = ["Bash", "mcp__files__read"].map(str::to_owned);
    let of = |mode| Policy::of_agent(mode, &listed, servers);
    for mode in Permissions::ALL {
        for tool in ["mcp__git__log", "mcp__git__diff_of", "mcp__docs__any", "mcp__files__read"] {
            assert_eq!(of(*mode).permit(tool), Permit::Allow, "{mode} {tool}");
        }
    }
    for tool in ["mcp__git__push", "mcp__files__write", "mcp__git2__log", "WebFetch"] {
        assert_eq!(of(Permissions::Ask).permit(tool), Permit::Ask, "{tool}");
        assert_eq!(of(Permissions::Allowlist).permit(tool), deny(tool));
        assert_eq!(of(Permissions::Bypass).permit(tool), Permit::Allow);
    }
    assert_eq!(of(Permissions::Ask).permit("Bash"), Permit::Ask);
    assert_eq!(of(Permissions::Ask).permit("Read"), Permit::Allow);
    assert_eq!(of(Permissions::Allowlist).permit("Bash"), Permit::Allow);
    assert_eq!(of(Permissions::Allowlist).permit("Read"), deny("Read"));
    let none = Policy::of_agent(Permissions::Allowlist, &[], []);
    assert_eq!(none.permit("Read"), deny("Read"), "an empty list allows nothing");
}
