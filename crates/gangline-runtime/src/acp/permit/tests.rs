//! Names and rules.

use gangline_core::permission::Permit;

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
    let deny = |permit: &Permit| matches!(permit, Permit::Deny(_));
    let ask = gate(Permissions::Ask, &["Bash"]);
    assert_eq!(ask.permit(&call("execute", "x")), Permit::Ask);
    assert_eq!(ask.permit(&call("read", "x")), Permit::Ask, "it names no file");
    let mut read = call("read", "x");
    read.places = vec!["/w/x".to_owned()];
    assert_eq!(ask.permit(&read), Permit::Allow);
    read.input = serde_json::json!({"filePath": "/etc/hosts"});
    assert_eq!(ask.permit(&read), Permit::Ask);
    assert_eq!(ask.permit(&call("fetch", "x")), Permit::Ask);
    assert_eq!(ask.permit(&call("other", "Read")), Permit::Ask);
    assert_eq!(ask.permit(&call("other", "gangline_send")), Permit::Allow);
    assert_eq!(ask.permit(&call("other", "docs_find")), Permit::Allow);
    assert_eq!(ask.permit(&call("other", "docs_drop")), Permit::Ask);
    assert_eq!(ask.permit(&call("other", "all_whatever")), Permit::Allow);
    let list = gate(Permissions::Allowlist, &["Bash", "mcp__docs__d*"]);
    assert_eq!(list.permit(&call("execute", "x")), Permit::Allow);
    assert!(deny(&list.permit(&call("read", "x"))));
    assert_eq!(list.permit(&call("other", "docs_drop")), Permit::Allow);
    let usual = gate(Permissions::Allowlist, &["Edit"]);
    assert_eq!(usual.permit(&call("edit", "x")), Permit::Allow);
    assert!(deny(&usual.permit(&call("fetch", "x"))));
    let bypass = gate(Permissions::Bypass, &[]);
    assert_eq!(bypass.permit(&call("fetch", "x")), Permit::Allow);
}

/// C5: the daemon's own tools need no permission, and a plain `send` is not the daemon's.
#[test]
fn a_title_alone_makes_no_tool_the_daemons() {
    let gate = gate(Permissions::Ask, &[]);
    for title in ["send", "Send (mail)", "no_reply", "mcp__hyperhive__send"] {
        let call = call("other", title);
        assert_eq!(gate.permit(&call), Permit::Ask, "{title}");
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
    for (title, name, permit) in [
        ("docs_find", "mcp__docs__find", Permit::Allow),
        ("docs-in_drop", "mcp__docs-in__drop", Permit::Ask),
        ("mcp_docs-in_drop", "mcp__docs-in__drop", Permit::Ask),
        ("mcp_gangline_send", "mcp__mcp__gangline_send", Permit::Ask),
        ("gangline_send", "send", Permit::Allow),
    ] {
        let call = call("other", title);
        assert_eq!((gate.name(&call).as_str(), gate.permit(&call)), (name, permit), "{title}");
    }
}
