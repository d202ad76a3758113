//! Names and rules.

use gangline_core::permission::Verdict;

use super::Gate;
use crate::{
    McpPlace, McpServer, Permissions,
    acp::{
        calls::Call,
        launch::tests::{Only, options},
    },
};

fn call(kind: &str, title: &str) -> Call {
    let mut call = Call::default();
    call.kind = kind.to_owned();
    call.first_title = title.to_owned();
    call
}

fn gate(mode: Permissions, list: &[&str]) -> Gate {
    let place = McpPlace::Http { url: String::new(), headers: Default::default() };
    let server = |key: &str, tools: &[&str]| McpServer {
        key: key.to_owned(),
        place: place.clone(),
        allowed_tools: tools.iter().map(|it| (*it).to_owned()).collect(),
    };
    let mut options = options(std::path::Path::new("/w"));
    options.permissions = mode;
    options.allowed_tools = list.iter().map(|it| (*it).to_owned()).collect();
    options.mcp_servers = vec![server("docs", &["find"]), server("all", &["*"])];
    options.tools = std::sync::Arc::new(Only("send"));
    Gate::new(&options)
}

#[test]
fn a_tool_has_one_name_whatever_the_program_calls_it() {
    let gate = gate(Permissions::Ask, &[]);
    for (kind, title, name) in [
        ("execute", "echo hi", "Bash"),
        ("read", "Viewing /etc", "Read"),
        ("edit", "write", "Edit"),
        ("other", "gangline_send", "send"),
        ("other", "gangline__send: {\"text\":\"x\"}", "send"),
        ("other", "gangline-send", "send"),
        ("", "mcp__gangline__send", "send"),
        ("other", "mcp_docs_find", "mcp__docs__find"),
        ("other", "docs-drop (x)", "mcp__docs__drop"),
        ("other", "TodoWrite", "todowrite"),
        ("dance", "Some Thing", "some"),
        // The model's own words in the place of a name.
        ("execute", "gangline_send", "Bash"),
        ("fetch", "gangline_send", "WebFetch"),
        ("other", "gangline_sendmore", "gangline_sendmore"),
        ("other", "", ""),
    ] {
        assert_eq!(gate.name(&call(kind, title)), name, "{kind} {title}");
    }
}

/// C5: each mode decides as it does for every other backend.
#[test]
fn modes_decide_by_name() {
    let deny = |verdict: &Verdict| matches!(verdict, Verdict::Deny(_));
    let ask = gate(Permissions::Ask, &["Bash"]);
    assert_eq!(ask.verdict(&call("execute", "x")), Verdict::Ask);
    assert_eq!(ask.verdict(&call("read", "x")), Verdict::Ask, "it names no file");
    let mut read = call("read", "x");
    read.places = vec!["/w/x".to_owned()];
    assert_eq!(ask.verdict(&read), Verdict::Allow);
    read.input = serde_json::json!({"filePath": "/etc/hosts"});
    assert_eq!(ask.verdict(&read), Verdict::Ask);
    assert_eq!(ask.verdict(&call("fetch", "x")), Verdict::Ask);
    assert_eq!(ask.verdict(&call("other", "Read")), Verdict::Ask);
    assert_eq!(ask.verdict(&call("other", "gangline_send")), Verdict::Allow);
    assert_eq!(ask.verdict(&call("other", "docs_find")), Verdict::Allow);
    assert_eq!(ask.verdict(&call("other", "docs_drop")), Verdict::Ask);
    assert_eq!(ask.verdict(&call("other", "all_whatever")), Verdict::Allow);
    let list = gate(Permissions::Allowlist, &["Bash", "mcp__docs__d*"]);
    assert_eq!(list.verdict(&call("execute", "x")), Verdict::Allow);
    assert!(deny(&list.verdict(&call("read", "x"))));
    assert_eq!(list.verdict(&call("other", "docs_drop")), Verdict::Allow);
    let usual = gate(Permissions::Allowlist, &["Edit"]);
    assert_eq!(usual.verdict(&call("edit", "x")), Verdict::Allow);
    assert!(deny(&usual.verdict(&call("fetch", "x"))));
    let bypass = gate(Permissions::Bypass, &[]);
    assert_eq!(bypass.verdict(&call("fetch", "x")), Verdict::Allow);
}

/// C5: the daemon's own tools need no permission, and a plain `send` is not the daemon's.
#[test]
fn a_title_alone_makes_no_tool_the_daemons() {
    let gate = gate(Permissions::Ask, &[]);
    for title in ["send", "Send (mail)", "no_reply", "mcp__hyperhive__send"] {
        let call = call("other", title);
        assert_eq!(gate.verdict(&call), Verdict::Ask, "{title}");
        assert!(!["send", "no_reply"].contains(&&*gate.name(&call)), "{title}");
    }
}

/// R2-34: what one server may do unasked, another whose key only begins so may not.
#[test]
fn a_key_that_begins_like_another_has_its_own_permissions() {
    let place = McpPlace::Http { url: String::new(), headers: Default::default() };
    let server = |key: &str, tools: &[&str]| McpServer {
        key: key.to_owned(),
        place: place.clone(),
        allowed_tools: tools.iter().map(|it| (*it).to_owned()).collect(),
    };
    let mut options = options(std::path::Path::new("/w"));
    options.permissions = Permissions::Ask;
    options.tools = std::sync::Arc::new(Only("send"));
    options.mcp_servers = vec![server("docs", &["*"]), server("docs-in", &[]), server("mcp", &[])];
    let gate = Gate::new(&options);
    for (title, name, verdict) in [
        ("docs_find", "mcp__docs__find", Verdict::Allow),
        ("docs-in_drop", "mcp__docs-in__drop", Verdict::Ask),
        ("mcp_docs-in_drop", "mcp__docs-in__drop", Verdict::Ask),
        ("mcp_gangline_send", "mcp__mcp__gangline_send", Verdict::Ask),
        ("gangline_send", "send", Verdict::Allow),
    ] {
        let call = call("other", title);
        assert_eq!((gate.name(&call).as_str(), gate.verdict(&call)), (name, verdict), "{title}");
    }
}
