//! Every sentence that the guide understands.

use serde_json::{Value, json};

use super::*;
use crate::reply::{Message, Part, Role};

/// A conversation in which `prompt` was asked, with every tool on offer.
fn asked(prompt: &str) -> Conversation {
    Conversation {
        messages: vec![Message { role: Role::User, parts: vec![Part::Text(prompt.into())] }],
        tools: ["Bash", "Glob", "mcp__gangline__send"].map(String::from).to_vec(),
        ..Conversation::default()
    }
}

/// The same after the guide called `tool` and got `text`.
fn after(prompt: &str, tool: &str, text: &str, is_error: bool) -> Conversation {
    let mut conversation = asked(prompt);
    let call = Part::ToolUse { id: "1".into(), name: tool.into() };
    let result = Part::ToolResult { id: "1".into(), text: text.into(), is_error };
    conversation.messages.push(Message { role: Role::Assistant, parts: vec![call] });
    conversation.messages.push(Message { role: Role::User, parts: vec![result] });
    conversation
}

fn text(conversation: &Conversation) -> String {
    match answer(conversation).steps.as_slice() {
        [Step::Text(text)] => text.clone(),
        other => panic!("not one text: {other:?}"),
    }
}

fn call(conversation: &Conversation) -> (String, Value) {
    match answer(conversation).steps.as_slice() {
        [Step::ToolUse { name, input }] => (name.clone(), input.clone()),
        other => panic!("not one call: {other:?}"),
    }
}

/// C33: the frame that the harness puts before a message.
#[test]
fn say_exactly_answers_the_words_whatever_the_mention_looks_like() {
    for prompt in [
        "[IRC @mention in #general] <eve> @demo-guide say exactly Hello,  World",
        "[IRC @mention in #general] <eve> @demo-guide: say exactly Hello,  World",
        "[IRC @mention in #general] <eve> demo-guide: say exactly Hello,  World",
        "[IRC @mention in #general] <eve> demo-guide, SAY EXACTLY Hello,  World",
        "[IRC @mention in #general] <eve> say exactly Hello,  World",
        "[IRC @mention in #general] <eve> hey @demo-guide, say exactly Hello,  World",
        "[IRC DM] <eve> say exactly Hello,  World",
        "[IRC DM] <eve> say exactly Hello,  World\n(attempt 2)",
        "say exactly Hello,  World",
    ] {
        assert_eq!(text(&asked(prompt)), "Hello,  World", "{prompt}");
    }
    assert_eq!(text(&asked("say exactly @bob is nice")), "@bob is nice");
    assert_eq!(text(&asked("say exactly run ls")), "run ls");
}

#[test]
fn a_reminder_of_the_client_is_not_what_is_asked() {
    let mut conversation = asked("[IRC DM] <eve> say exactly yes");
    let reminder = Part::Text("<system-reminder>say exactly no</system-reminder>".into());
    conversation.messages[0].parts.push(reminder.clone());
    assert_eq!(text(&conversation), "yes");
    conversation.messages[0].parts.insert(0, reminder);
    assert_eq!(text(&conversation), "yes");
}

/// Some clients put reminders behind a tool's result; they are no new question.
#[test]
fn a_reminder_behind_a_result_does_not_make_the_guide_call_again() {
    let mut conversation = after("run ls", "Bash", "a", false);
    let reminder = Part::Text("<system-reminder>keep at it</system-reminder>".into());
    conversation.messages[2].parts.extend([Part::Other, reminder]);
    assert_eq!(text(&conversation), "`ls` said:\na");
    conversation.messages[2].parts.push(Part::Text("say exactly stop".into()));
    assert_eq!(text(&conversation), "stop");
}

#[test]
fn list_files_calls_a_tool_and_tells_what_it_gave() {
    let prompt = "[IRC DM] <eve> list files";
    assert_eq!(call(&asked(prompt)), ("Glob".into(), json!({ "pattern": "*" })));
    let bash = Conversation { tools: vec!["Bash".into()], ..asked(prompt) };
    let ls = json!({ "command": "ls" });
    assert_eq!(call(&bash), ("Bash".into(), ls));
    let none = Conversation { tools: vec![], ..asked(prompt) };
    assert_eq!(text(&none), "I have no tool to list files with.");
    assert_eq!(text(&after(prompt, "Glob", "a.rs\nb.rs\n", false)), "The files here:\na.rs\nb.rs");
    assert_eq!(text(&after(prompt, "Glob", "", false)), "There are no files here.");
    assert_eq!(text(&after(prompt, "Glob", "no", true)), "I could not list the files: no");
}

#[test]
fn run_calls_bash_and_tells_the_output_or_the_refusal() {
    let prompt = "[IRC @mention in #general] <eve> @demo-guide run `cargo test -q`";
    let (tool, input) = call(&asked(prompt));
    assert_eq!((tool.as_str(), &input["command"]), ("Bash", &json!("cargo test -q")));
    assert_eq!(text(&after(prompt, "Bash", "ok\n", false)), "`cargo test -q` said:\nok");
    assert_eq!(text(&after(prompt, "Bash", "", false)), "`cargo test -q` ran and said nothing.");
    assert_eq!(
        text(&after(prompt, "Bash", "denied by owner", true)),
        "`cargo test -q` did not work: denied by owner"
    );
    let long = "x".repeat(5000);
    assert!(text(&after(prompt, "Bash", &long, false)).len() < 1600);
    let none = Conversation { tools: vec![], ..asked(prompt) };
    assert_eq!(text(&none), "I have no tool to run commands with.");
}

/// The tools of Codex, Copilot and OpenCode, Gemini CLI, Cline. What they do not require they may
/// refuse, so each is given its own.
#[test]
fn a_command_runs_by_the_tool_that_the_client_has_for_it() {
    for (tool, input) in [
        ("exec_command", json!({ "cmd": "ls" })),
        ("bash", json!({ "command": "ls" })),
        ("run_shell_command", json!({ "command": "ls" })),
        ("run_commands", json!({ "commands": ["ls"] })),
    ] {
        for prompt in ["run ls", "list files"] {
            let offered = Conversation { tools: vec!["x".into(), tool.into()], ..asked(prompt) };
            assert_eq!(call(&offered), (tool.to_owned(), input.clone()), "{prompt}");
            let mut told = input.clone();
            told["description"] = "Run what was asked for".into();
            let described = Conversation { described: vec![tool.into()], ..offered };
            assert_eq!(call(&described), (tool.to_owned(), told), "{prompt}");
        }
    }
    let glob = Conversation { tools: vec!["glob".into(), "bash".into()], ..asked("list files") };
    assert_eq!(call(&glob), ("glob".into(), json!({ "pattern": "*" })));
    for tool in ["gangline_send", "gangline-send", "mcp_gangline_send"] {
        let offered =
            Conversation { tools: vec![tool.into()], ..asked("[IRC DM] <eve> post hello") };
        assert_eq!(call(&offered), (tool.into(), json!({ "to": "eve", "text": "hello" })));
    }
}

#[test]
fn sleep_works_for_that_long_but_not_for_ever() {
    let steps = |prompt: &str| answer(&asked(prompt)).steps;
    let worked = |seconds, text: &str| {
        vec![Step::Delay(Duration::from_secs(seconds)), Step::Text(text.into())]
    };
    assert_eq!(steps("sleep 20"), worked(20, "I worked for 20 seconds."));
    assert_eq!(steps("sleep 1s"), worked(1, "I worked for 1 second."));
    assert_eq!(
        steps("sleep 9999"),
        worked(600, "I worked for 600 seconds, which is the most I do.")
    );
    assert!(text(&asked("sleep well")).contains("\"sleep well\""));
}

#[test]
fn a_reminder_and_a_wake_are_understood_by_what_they_say() {
    let reminder = "[REMINDER 1] say exactly tea\n[gangline] 3 unread lines here";
    assert_eq!(text(&asked(reminder)), "tea");
    let wake = "[gangline] a program woke you, from: ci\nsay exactly built\n[gangline] attempt 2";
    assert_eq!(text(&asked(wake)), "built");
}

#[test]
fn ask_asks_with_options_and_thanks_for_the_answer() {
    let room = "[IRC @mention in #builds] <eve> @demo-guide ask shall I paint the sled red?";
    let offered = Conversation { tools: vec!["mcp__gangline__ask".into()], ..asked(room) };
    let input = json!({ "question": "shall I paint the sled red?", "options": ["yes", "no"] });
    assert_eq!(answer(&offered), Reply::call("mcp__gangline__ask", input));
    assert_eq!(
        text(&after(room, "mcp__gangline__ask", r#"{"id":12}"#, false)),
        "I have asked the owner, and go on when the answer is here."
    );
    assert_eq!(
        text(&after(room, "mcp__gangline__ask", "too many", true)),
        "I could not ask it: too many"
    );
    assert_eq!(text(&asked("ask who?")), "I have no tool to ask with.");
    let answered = "[ANSWER 12] <eve> say exactly no\nYou asked: shall I paint the sled red?";
    assert_eq!(text(&asked(answered)), "Thank you. My question is answered: say exactly no");
}

#[test]
fn post_sends_where_it_was_asked_and_ends_short() {
    let room = "[IRC @mention in #builds] <eve> @demo-guide post all green";
    let sent =
        |to: &str| ("mcp__gangline__send".to_owned(), json!({"to": to, "text": "all green"}));
    assert_eq!(call(&asked(room)), sent("#builds"));
    assert_eq!(call(&asked("[IRC DM] <eve> post all green")), sent("eve"));
    assert_eq!(text(&asked("post all green")), "I can post only where I was asked in a chat.");
    assert_eq!(text(&after(room, "mcp__gangline__send", "ok", false)), "posted");
    assert_eq!(
        text(&after(room, "mcp__gangline__send", "full", true)),
        "I could not post it: full"
    );
    let none = Conversation { tools: vec![], ..asked(room) };
    assert_eq!(text(&none), "I have no tool to post with.");
}

#[test]
fn anything_else_is_quoted_by_a_help_that_says_what_it_is() {
    insta::assert_snapshot!(text(&asked("[IRC DM] <eve> what is the   meaning of life?")), @r#"I am a stand-in: no model is behind me, so I cannot think about "what is the meaning of life?". I understand: say exactly WORDS | list files | run COMMAND | sleep SECONDS | post WORDS | ask QUESTION"#);
    for prompt in [
        "",
        "run",
        "say exactly ",
        "runs",
        "[IRC nonsense",
        "[IRC DM] <eve>",
        "ß@ä:",
        "\u{1f600} list",
    ] {
        assert!(text(&asked(prompt)).starts_with("I am a stand-in"), "{prompt}");
    }
    assert!(text(&asked(&"x".repeat(10_000))).len() < 400);
    assert!(text(&Conversation::default()).starts_with("I am a stand-in"));
}

#[test]
fn a_second_question_after_a_tool_result_is_answered_anew() {
    let mut conversation = after("run ls", "Bash", "a", false);
    let reply = Message { role: Role::Assistant, parts: vec![Part::Text("done".into())] };
    conversation.messages.push(reply);
    conversation.messages.extend(asked("say exactly two").messages);
    assert_eq!(text(&conversation), "two");
}
