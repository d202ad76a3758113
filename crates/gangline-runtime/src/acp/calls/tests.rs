//! Calls as the real programs tell them, each in its own order.

use serde_json::{Value, json};

use super::{Call, Calls, News, input};
use crate::acp::update::patch;

/// What is told, as short lines.
fn update(calls: &mut Calls, body: &Value) -> Vec<String> {
    calls.update(patch(body).unwrap()).iter().map(line).collect()
}

fn line(news: &News) -> String {
    match news {
        News::Wanted(call) => format!("wants {} {}", call.first_title, input(call)),
        News::Over { is_error, content, .. } => format!("over {is_error} {content}"),
    }
}

#[test]
fn a_call_whose_arguments_come_later_is_told_with_them() {
    let mut calls = Calls::default();
    let begun = json!({"toolCallId": "c", "title": "bash", "kind": "execute", "status": "pending",
        "rawInput": {"cwd": "/w"}});
    assert_eq!(update(&mut calls, &begun), [""; 0]);
    let runs = json!({"toolCallId": "c", "title": "echo hi", "status": "in_progress",
        "rawInput": {"command": "echo hi", "cwd": "/w"}});
    assert_eq!(update(&mut calls, &runs), [r#"wants bash {"command":"echo hi","cwd":"/w"}"#]);
    assert_eq!(update(&mut calls, &runs), [""; 0]);
    let content = json!([{"type": "content", "content": {"type": "text", "text": "hi\n"}}]);
    let over = json!({"toolCallId": "c", "status": "completed", "content": content,
        "rawOutput": {"output": "raw"}});
    assert_eq!(update(&mut calls, &over), ["over false hi\n"]);
    assert_eq!(update(&mut calls, &over), [""; 0]);
}

#[test]
fn an_update_may_come_before_its_call_and_after_its_end() {
    let mut calls = Calls::default();
    let first = json!({"toolCallId": "c", "title": "run_commands: x", "kind": "execute",
        "status": "pending", "rawInput": {"commands": ["x", "y"]}});
    let wants = r#"wants run_commands: x {"command":"x; y","commands":["x","y"]}"#;
    assert_eq!(update(&mut calls, &first), [wants]);
    let (_, news) = calls.asked(&patch(&first).unwrap());
    assert_eq!(news, []);
    let failed = json!({"toolCallId": "c", "status": "failed"});
    assert_eq!(update(&mut calls, &failed), ["over true "]);
    assert_eq!(update(&mut calls, &first), [""; 0]);
    let again = json!({"toolCallId": "c", "status": "failed", "rawOutput": "why"});
    assert_eq!(update(&mut calls, &again), [""; 0]);
}

#[test]
fn a_question_may_be_the_only_word_of_a_call() {
    let mut calls = Calls::default();
    let body = json!({"toolCallId": "c", "title": "write", "kind": "edit", "rawInput": {}});
    let (call, news) = calls.asked(&patch(&body).unwrap());
    assert_eq!(call.kind, "edit");
    assert_eq!(
        news.iter().map(line).collect::<Vec<_>>(),
        [r#"wants write {"title":"write","unknown":"the program does not say what it would do"}"#]
    );
    // An end without any word before it.
    let only = json!({"toolCallId": "d", "title": "t", "status": "completed", "rawOutput": [1]});
    assert_eq!(update(&mut calls, &only), ["wants t {}", "over false [1]"]);
}

/// OpenCode says that a command is done, whatever came of it: its exit code tells.
#[test]
fn a_command_that_ends_with_a_code_has_failed() {
    for (code, line) in
        [(json!(2), "over true no rule\n(exit code 2)"), (json!(0), "over false no rule\n")]
    {
        let mut calls = Calls::default();
        let body = json!({"toolCallId": "c", "status": "completed",
            "rawOutput": {"output": "no rule\n", "metadata": {"exit": code}}});
        let news = calls.update(patch(&body).unwrap());
        assert_eq!(news.iter().map(self::line).nth(1).unwrap(), line);
        let News::Over { unasked, .. } = &news[1] else { panic!("{news:?}") };
        assert!(unasked.is_some(), "it ran, and nobody was asked");
    }
}

#[test]
fn results_are_found_wherever_they_stand_and_cut() {
    for (output, text) in [
        (json!("plain"), "plain"),
        (json!({"output": "o", "content": "c"}), "o"),
        (json!({"content": "c", "detailedContent": "d"}), "c"),
        (json!({"message": "m", "code": "rejected"}), "m"),
        (json!({"content": [1]}), r#"{"content":[1]}"#),
    ] {
        let mut calls = Calls::default();
        let body = json!({"toolCallId": "c", "status": "completed", "rawOutput": output});
        assert_eq!(update(&mut calls, &body)[1], format!("over false {text}"));
    }
    let mut calls = Calls::default();
    let long = "ä".repeat(400_000);
    let body = json!({"toolCallId": "c", "status": "completed", "rawOutput": long});
    let result = update(&mut calls, &body).remove(1);
    assert!(result.len() < 263_000 && result.ends_with("ä […]"));
}

#[test]
fn arguments_are_always_an_object() {
    let of = |arguments: Value| input(&Call { input: arguments, ..Call::default() });
    assert_eq!(of(Value::Null), json!({}));
    assert_eq!(of(json!("x")), json!({"input": "x"}));
    assert_eq!(
        of(json!({"command": "a", "commands": ["b"]})),
        json!({"command": "a", "commands": ["b"]})
    );
}

/// What a human is asked about is what the question says, not an announcement before it.
#[test]
fn a_question_is_about_its_own_arguments() {
    let mut calls = Calls::default();
    let harmless = json!({"toolCallId": "c", "title": "t", "kind": "read",
        "rawInput": {"command": "ls", "cwd": "/w"}});
    update(&mut calls, &harmless);
    let asked = json!({"toolCallId": "c", "kind": "execute", "rawInput": {"command": "rm"}});
    let (call, _) = calls.asked(&patch(&asked).unwrap());
    assert_eq!(
        (call.kind.as_str(), input(&call)),
        ("execute", json!({"command": "rm", "cwd": "/w"}))
    );
    // An empty question leaves what is known.
    let empty = json!({"toolCallId": "c", "title": "ls", "rawInput": {}});
    let (call, _) = calls.asked(&patch(&empty).unwrap());
    assert_eq!(input(&call), json!({"command": "rm", "cwd": "/w"}));
    // Some say what is asked in the title only.
    let titled = json!({"toolCallId": "d", "kind": "execute", "title": "rm -r /"});
    let (call, _) = calls.asked(&patch(&titled).unwrap());
    assert_eq!(input(&call), json!({"title": "rm -r /"}));
}

/// C5: what an earlier call with the same id was counts for nothing.
#[test]
fn an_id_that_is_used_again_is_another_call() {
    let mut calls = Calls::default();
    let read = json!({"toolCallId": "0", "title": "docs_find", "kind": "read",
        "status": "completed", "rawInput": {"path": "a"}});
    update(&mut calls, &read);
    let asked = json!({"toolCallId": "0", "rawInput": {"command": "rm"}});
    let (call, news) = calls.asked(&patch(&asked).unwrap());
    assert_eq!((call.kind.as_str(), call.first_title.as_str()), ("", ""));
    assert_eq!(news.iter().map(line).collect::<Vec<_>>(), [r#"wants  {"command":"rm"}"#]);
    let over = json!({"toolCallId": "0", "status": "completed", "rawOutput": "gone"});
    assert_eq!(update(&mut calls, &over), ["over false gone"]);
}

/// What a person sees of a question without arguments, and the kind that the rules go by.
fn asked(announced: &[Value], question: &Value) -> (String, Value) {
    let mut calls = Calls::default();
    for body in announced {
        update(&mut calls, body);
    }
    let (call, _) = calls.asked(&patch(question).unwrap());
    (call.kind.clone(), input(&call))
}

/// C5: a person decides by what would run, wherever the program puts it.
#[test]
fn a_question_without_arguments_shows_what_is_known() {
    let text = |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    let bash = json!({"toolCallId": "b", "title": "Bash", "kind": "execute", "status": "pending"});
    let mut with_text = bash.clone();
    with_text["content"] = text("{\"command\": \"touch a\"}");
    let mut whole = bash.clone();
    whole["rawInput"] = json!({"command": "touch a"});
    let other = json!({"toolCallId": "e", "title": "Edit", "kind": "edit",
        "rawInput": {"path": "f"}});
    let blind = json!({"toolCallId": "b", "title": "Bash"});
    let strange =
        json!({"toolCallId": "confirmation-1", "title": "Confirm Actions", "kind": "other"});
    let mut says = blind.clone();
    says["content"] = text("Running: touch a");
    let unknown = "the program does not say what it would do";
    for (announced, question, kind, shown) in [
        // By its own words.
        (
            vec![bash.clone()],
            &says,
            "execute",
            json!({"title": "Bash", "asks": "Running: touch a"}),
        ),
        (vec![], &says, "", json!({"title": "Bash", "asks": "Running: touch a"})),
        // By the words of its call.
        (
            vec![with_text.clone()],
            &blind,
            "execute",
            json!({"title": "Bash", "asks": "{\"command\": \"touch a\"}"}),
        ),
        (vec![whole.clone()], &blind, "execute", json!({"command": "touch a"})),
        // By the call that was announced, although the id is another one.
        (
            vec![whole.clone()],
            &strange,
            "execute",
            json!({"title": "Confirm Actions", "command": "touch a"}),
        ),
        (
            vec![with_text],
            &strange,
            "execute",
            json!({"title": "Bash", "asks": "{\"command\": \"touch a\"}"}),
        ),
        (
            vec![whole.clone(), other],
            &strange,
            "other",
            json!({"title": "Confirm Actions", "calls": [{"command": "touch a"}, {"path": "f"}]}),
        ),
        // Nothing is known, and that is said.
        (vec![], &strange, "other", json!({"title": "Confirm Actions", "unknown": unknown})),
        (vec![bash], &blind, "execute", json!({"title": "Bash", "unknown": unknown})),
    ] {
        assert_eq!(asked(&announced, question), (kind.to_owned(), shown), "{question}");
    }
    // A kind of its own says that it is about something else.
    let remove = json!({"toolCallId": "x", "title": "gone", "kind": "delete"});
    let shown = json!({"title": "gone", "unknown": unknown});
    assert_eq!(asked(&[whole], &remove), ("delete".to_owned(), shown));
}

#[test]
fn a_question_without_arguments_shows_the_change_of_a_file() {
    let diff = |path: &str, old: Value| json!({"type": "diff", "path": path, "oldText": old, "newText": "n"});
    let question = |content: Value| json!({"toolCallId": "e", "title": "Edit", "kind": "edit", "content": content});
    let (_, shown) = asked(&[], &question(json!([diff("/a", json!("o"))])));
    let one = json!({"title": "Edit", "file_path": "/a", "old_string": "o", "new_string": "n"});
    assert_eq!(shown, one);
    let (_, shown) =
        asked(&[], &question(json!([diff("/a", Value::Null), diff("/b", json!("o"))])));
    let two = json!({"title": "Edit", "changes": [
        {"file_path": "/a", "content": "n"},
        {"file_path": "/b", "old_string": "o", "new_string": "n"},
    ]});
    assert_eq!(shown, two);
}

/// Returns the ids of the calls that ran without a question.
fn unasked(steps: &[(&str, &str)]) -> Vec<String> {
    let mut calls = Calls::default();
    let mut ran = Vec::new();
    for (step, id) in steps {
        let body =
            json!({"toolCallId": id, "title": "t", "kind": "execute", "rawInput": {"command": id}});
        let news = match *step {
            "ask" => calls.asked(&patch(&body).unwrap()).1,
            "call" => calls.update(patch(&body).unwrap()),
            "ask blindly" => calls.asked(&patch(&json!({"toolCallId": id})).unwrap()).1,
            status => calls.update(patch(&json!({"toolCallId": id, "status": status})).unwrap()),
        };
        for news in news {
            if let News::Over { call, unasked: Some(_), .. } = news {
                ran.push(call.id);
            }
        }
    }
    ran
}

/// C5: only a call that ran, and about which no question can have been, counts as unasked.
#[test]
fn a_call_that_ran_without_a_question_is_known() {
    for (steps, ran) in [
        (&[("call", "a"), ("completed", "a")][..], &["a"][..]),
        (&[("call", "a"), ("failed", "a")], &[]),
        (&[("call", "a"), ("ask", "a"), ("completed", "a")], &[]),
        (&[("ask", "a"), ("completed", "a"), ("call", "b"), ("completed", "b")], &["b"]),
        // By an id of its own.
        (&[("call", "a"), ("ask blindly", "z"), ("completed", "a")], &[]),
        (&[("ask", "z"), ("call", "a"), ("completed", "a")], &[]),
        (
            &[("ask", "z"), ("call", "a"), ("completed", "a"), ("call", "b"), ("completed", "b")],
            &["b"],
        ),
        (
            &[
                ("call", "a"),
                ("call", "b"),
                ("ask blindly", "z"),
                ("completed", "a"),
                ("completed", "b"),
            ],
            &[],
        ),
    ] {
        assert_eq!(unasked(steps), ran, "{steps:?}");
    }
}

/// Arguments that come in pieces, in a later title, or never: people are told what ran, and never `{}`.
#[test]
fn what_ran_unasked_is_told_with_the_arguments_that_came_last() {
    let begun = |input: Value| {
        json!({"toolCallId": "c", "title": "bash", "kind": "execute", "status": "pending",
            "rawInput": input})
    };
    let runs = |more: Value| {
        let mut runs = json!({"toolCallId": "c", "status": "in_progress"});
        runs.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        runs
    };
    let pieces = json!({"rawInput": {"command": "rm -r x"}});
    let nothing = "the program does not say what it would do";
    for (first, more, ran) in [
        (json!({}), pieces.clone(), json!({"command": "rm -r x"})),
        (json!({"command": "rm"}), pieces, json!({"command": "rm -r x"})),
        (json!({}), json!({"title": "rm -r x"}), json!({"title": "bash", "asks": "rm -r x"})),
        (json!({}), json!({}), json!({"title": "bash", "asks": nothing})),
    ] {
        let mut calls = Calls::default();
        calls.update(patch(&begun(first.clone())).unwrap());
        calls.update(patch(&runs(more.clone())).unwrap());
        let over = json!({"toolCallId": "c", "status": "completed"});
        let news = calls.update(patch(&over).unwrap());
        let Some(News::Over { unasked, .. }) = news.last() else { panic!("{news:?}") };
        assert_eq!(*unasked, Some(ran), "{first} {more}");
    }
}
