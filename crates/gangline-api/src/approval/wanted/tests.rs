use gangline_core::approval::view::summary;
use serde_json::json;

use super::*;

fn check(tool: &str, input: &Value, expect: &str) {
    assert_eq!(summary(&wanted(tool, input)), expect, "{tool} {input}");
}

#[test]
fn a_call_is_shown_by_what_it_does_and_nothing_that_matters_is_dropped() {
    check("Bash", &json!({"command": "ls\nrm x", "description": "lists"}), "ls⏎rm x (2 lines)");
    let odd = json!({"command": "ls", "timeout": 9, "run_in_background": true, "quiet": false});
    check("Bash", &odd, "ls with {\"run_in_background\":true}");
    check("Bash", &json!({"command": "ls; rm x", "commands": ["ls", "rm x"]}), "ls; rm x");
    let other = json!({"command": "ls", "commands": ["ls", "rm x"]});
    check("Bash", &other, "ls with {\"commands\":[\"ls\",\"rm x\"]}");
    check("Bash", &json!({"script": "ls"}), "{\"script\":\"ls\"}");
    let write = json!({"file_path": "/x", "content": "a\nb\n"});
    check("Write", &write, "/x (+2 lines, the whole file)");
    let edit = json!({"file_path": "/x", "old_string": "a\nb", "new_string": "a\nc"});
    check("Edit", &edit, "/x (+1 −1 lines)");
    let all = json!({"path": "/x", "old_string": "a", "new_string": "", "replace_all": true});
    check("Edit", &all, "/x with {\"replace_all\":true} (+0 −1 lines)");
    let edits =
        json!([{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]);
    check("MultiEdit", &json!({"file_path": "/x", "edits": edits}), "/x (+2 −2 lines)");
    let odd = json!({"file_path": "/x", "edits": [{"old": "a"}]});
    check("MultiEdit", &odd, "{\"edits\":[{\"old\":\"a\"}],\"file_path\":\"/x\"}");
    check(
        "mcp__x__run",
        &json!({"command": "ls", "host": "h"}),
        "{\"command\":\"ls\",\"host\":\"h\"}",
    );
    check("Bash", &json!({"asks": "may I run make?", "title": "make"}), "make: may I run make?");
    check("WebFetch", &json!({"url": "http://x"}), "{\"url\":\"http://x\"}");
}

#[test]
fn a_list_of_patches_names_every_file() {
    let changes = json!([
        {"path": "/a", "kind": {"type": "update", "move_path": "/b"}, "diff": "@@ -1 +1 @@\n-x\n+y\n"},
        {"path": "/n", "kind": {"type": "add"}, "diff": "one\ntwo\n"},
        {"path": "/d", "kind": {"type": "delete"}, "diff": "gone\n"},
    ]);
    let input = json!({"file_path": "/a", "changes": changes, "also_from_now_on": "/srv"});
    let expect = "/a -> /b, /n, /d (deleted) with {\"also_from_now_on\":\"/srv\"} (+3 −2 lines)";
    check("Edit", &input, expect);
    let odd = json!({"file_path": "/a", "changes": {"/a": {"add": 1}}});
    check("Edit", &odd, "{\"changes\":{\"/a\":{\"add\":1}},\"file_path\":\"/a\"}");
}

#[test]
fn arguments_that_were_stored_broken_are_shown_as_they_are() {
    assert_eq!(summary(&wanted_of_row("Bash", "{\"command\": \"l")), "{\"command\": \"l");
}

/// A file that leads elsewhere is named with the place, whatever tool uses it.
#[test]
fn a_link_is_shown_with_its_target() {
    let to = "/home/ori/.profile, a link";
    let write = json!({"file_path": "README.md", "content": "x", LINKS: {"README.md": to}});
    check("Write", &write, "README.md → /home/ori/.profile, a link (+1 line, the whole file)");
    let uri = json!({"path": "file:///x", "content": "x", LINKS: {"/x": to}});
    check("Write", &uri, "file:///x → /home/ori/.profile, a link (+1 line, the whole file)");
    let patch = json!({"changes": [
        {"path": "a", "kind": {"type": "update", "move_path": "b"}, "diff": "@@\n+x\n"},
    ], LINKS: {"b": to}});
    check("Edit", &patch, "a -> b → /home/ori/.profile, a link (+1 −0 lines)");
    let read = json!({"file_path": "/x", LINKS: {"/x": to}});
    check("Read", &read, r#"{"file_path":"/x"} (/x → /home/ori/.profile, a link)"#);
}
