//! The demo guide: a few sentences understood without a model, so that a first look at Gangline
//! needs neither key nor network.
//!
//! Deterministic and without memory. It says that it is a stand-in whenever it explains itself.

use std::time::Duration;

use serde_json::{Value, json};

use crate::reply::{Conversation, Reply, Step, ToolOutcome};

/// The longest `sleep`, in seconds.
pub const SLEEP_MAX: u64 = 600;
/// How much of a tool's result is repeated, in characters.
const RESULT_MAX: usize = 1500;
/// How much of the asker's text the help quotes, in characters.
const QUOTE_MAX: usize = 120;

/// A tool that runs a command: its name, and what it is given.
type Shell = (&'static str, fn(&str) -> Value);

/// The shells of the clients that are known.
const SHELLS: [Shell; 4] = [
    ("Bash", |command| json!({ "command": command })),
    ("exec_command", |command| json!({ "cmd": command })),
    ("run_shell_command", |command| json!({ "command": command })),
    ("run_commands", |command| json!({ "commands": [command] })),
];
/// What a shell is called for. Some require it; those that do not know it may refuse the call.
const WHY: &str = "Run what was asked for";

/// What the asker said, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Asked<'a> {
    /// Where an answer goes: the channel, or the asker's nick; `None` without a chat frame.
    place: Option<&'a str>,
    text: &'a str,
}

/// A sentence that is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sentence<'a> {
    Say(&'a str),
    List,
    Run(&'a str),
    Sleep(u64),
    Post(&'a str),
    Ask(&'a str),
}

/// Returns the guide's answer.
#[must_use]
pub fn answer(conversation: &Conversation) -> Reply {
    let asked = conversation
        .asked_parts()
        .filter_map(chat_frame)
        .last()
        .unwrap_or(Asked { place: None, text: without_heading(conversation.asked().trim()) });
    if let Some(answer) = conversation.asked_parts().filter_map(answer_frame).last() {
        return Reply::text(format!("Thank you. My question is answered: {}", short(answer)));
    }
    let Some(sentence) = understand(asked.text) else { return Reply::text(help(asked.text)) };
    match sentence {
        Sentence::Say(text) => Reply::text(text),
        Sentence::Sleep(seconds) => sleep(seconds),
        Sentence::List => list(conversation),
        Sentence::Run(command) => run(conversation, command),
        Sentence::Post(text) => post(conversation, asked.place, text),
        Sentence::Ask(question) => ask(conversation, question),
    }
}

/// Reads `[IRC @mention in #room] <nick> text` and `[IRC DM] <nick> text`; later lines are hints
/// of the harness.
fn chat_frame(text: &str) -> Option<Asked<'_>> {
    let line = text.lines().find(|line| line.starts_with("[IRC "))?;
    let (head, rest) = line.split_once("] <")?;
    let (nick, text) = rest.split_once('>')?;
    let place = match head.strip_prefix("[IRC @mention in ") {
        Some(room) => room,
        None if head == "[IRC DM" => nick,
        None => return None,
    };
    Some(Asked { place: Some(place), text: text.trim() })
}

/// Returns what a reminder (`[REMINDER 3] text`) or a wake (a line `[gangline] a program woke you, …`,
/// then text) says; later lines of the harness are hints.
fn without_heading(text: &str) -> &str {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    match first.strip_prefix("[REMINDER ").and_then(|line| line.split_once("] ")) {
        Some((_, reminder)) => reminder.trim(),
        None if first.starts_with("[gangline] a program woke you") => {
            rest.lines().next().unwrap_or_default().trim()
        }
        None => text,
    }
}

/// Reads `[ANSWER 12] <nick> text`: the answer of a question that [`ask`] has asked.
fn answer_frame(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| line.starts_with("[ANSWER "))?;
    Some(line.split_once("] <")?.1.split_once('>')?.1.trim())
}

fn understand(text: &str) -> Option<Sentence<'_>> {
    let bare = without_mention(text);
    if let Some(found) = sentence(bare) {
        return Some(found);
    }
    // "hey @demo-guide, list files"
    let at = bare.find(" @")?;
    sentence(without_mention(bare[at..].trim_start()))
}

/// Removes `@demo-guide`, `demo-guide:` or `demo-guide,` from the beginning.
fn without_mention(text: &str) -> &str {
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let word = first.trim_end_matches([':', ',']);
    let called = word != first && (word.contains('-') || word.eq_ignore_ascii_case("guide"));
    if first.starts_with('@') || called { rest.trim() } else { text.trim() }
}

fn sentence(text: &str) -> Option<Sentence<'_>> {
    let after = |words: &str| {
        let head = text.get(..words.len()).filter(|head| head.eq_ignore_ascii_case(words))?;
        let rest = &text[head.len()..];
        (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
    };
    let something = |rest: &&str| !rest.is_empty();
    if let Some(rest) = after("say exactly").filter(something) {
        return Some(Sentence::Say(rest));
    }
    if after("list files").is_some() || after("list the files").is_some() {
        return Some(Sentence::List);
    }
    if let Some(rest) = after("run").filter(something) {
        return Some(Sentence::Run(rest.trim_matches('`')));
    }
    if let Some(rest) = after("post").filter(something) {
        return Some(Sentence::Post(rest));
    }
    if let Some(rest) = after("ask").filter(something) {
        return Some(Sentence::Ask(rest));
    }
    let seconds = after("sleep")?.split_whitespace().next()?.trim_end_matches('s').parse().ok()?;
    Some(Sentence::Sleep(seconds))
}

fn help(text: &str) -> String {
    let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut quoted: String = text.chars().take(QUOTE_MAX).collect();
    if quoted.len() < text.len() {
        quoted.push('…');
    }
    format!(
        "I am a stand-in: no model is behind me, so I cannot think about \"{quoted}\". I \
         understand: say exactly WORDS | list files | run COMMAND | sleep SECONDS | post WORDS | \
         ask QUESTION"
    )
}

fn sleep(seconds: u64) -> Reply {
    let worked = seconds.min(SLEEP_MAX);
    let unit = if worked == 1 { "second" } else { "seconds" };
    let most = if worked < seconds { ", which is the most I do" } else { "" };
    Reply {
        steps: vec![
            Step::Delay(Duration::from_secs(worked)),
            Step::Text(format!("I worked for {worked} {unit}{most}.")),
        ],
        ..Reply::default()
    }
}

fn list(conversation: &Conversation) -> Reply {
    if let Some(result) = conversation.result() {
        return Reply::text(match (result.is_error, result.text.trim()) {
            (true, why) => format!("I could not list the files: {}", short(why)),
            (false, "") => "There are no files here.".to_owned(),
            (false, files) => format!("The files here:\n{}", short(files)),
        });
    }
    if let Some(tool) = conversation.tool("Glob") {
        return Reply::call(tool, json!({ "pattern": "*" }));
    }
    shell(conversation, "ls").unwrap_or_else(|| Reply::text("I have no tool to list files with."))
}

fn run(conversation: &Conversation, command: &str) -> Reply {
    if let Some(ToolOutcome { text, is_error, .. }) = conversation.result() {
        return Reply::text(match (is_error, text.trim()) {
            (true, why) => format!("`{command}` did not work: {}", short(why)),
            (false, "") => format!("`{command}` ran and said nothing."),
            (false, output) => format!("`{command}` said:\n{}", short(output)),
        });
    }
    shell(conversation, command)
        .unwrap_or_else(|| Reply::text("I have no tool to run commands with."))
}

/// Calls the tool on offer that runs a command.
fn shell(conversation: &Conversation, command: &str) -> Option<Reply> {
    SHELLS.iter().find_map(|(name, input)| {
        let tool = conversation.tool(name)?;
        let mut input = input(command);
        if conversation.described.iter().any(|described| described == tool) {
            input["description"] = WHY.into();
        }
        Some(Reply::call(tool, input))
    })
}

fn post(conversation: &Conversation, place: Option<&str>, text: &str) -> Reply {
    if let Some(result) = conversation.result() {
        return match result.is_error {
            true => Reply::text(format!("I could not post it: {}", short(result.text.trim()))),
            false => Reply::text("posted"),
        };
    }
    match (conversation.tool("send"), place) {
        (Some(tool), Some(place)) => Reply::call(tool, json!({ "to": place, "text": text })),
        (Some(_), None) => Reply::text("I can post only where I was asked in a chat."),
        (None, _) => Reply::text("I have no tool to post with."),
    }
}

fn ask(conversation: &Conversation, question: &str) -> Reply {
    if let Some(result) = conversation.result() {
        return match result.is_error {
            true => Reply::text(format!("I could not ask it: {}", short(result.text.trim()))),
            false => Reply::text("I have asked the owner, and go on when the answer is here."),
        };
    }
    match conversation.tool("ask") {
        Some(tool) => Reply::call(tool, json!({ "question": question, "options": ["yes", "no"] })),
        None => Reply::text("I have no tool to ask with."),
    }
}

fn short(text: &str) -> String {
    let mut out: String = text.chars().take(RESULT_MAX).collect();
    if out.len() < text.len() {
        out.push_str(" …");
    }
    out
}

#[cfg(test)]
mod tests;
