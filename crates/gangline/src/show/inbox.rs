//! Questions, letters and reminders as lists.

use gangline_api::inbox::{Letter, Question, Reminder};
use gangline_os::clock::{UnixMicros, parse_rfc3339};

use super::{
    table::{Cell, table, wrapped},
    text::{age, one_line},
};

#[cfg(test)]
mod tests;

/// Returns what `questions` prints.
pub(crate) fn questions(questions: &[Question], now: UnixMicros, columns: Option<usize>) -> String {
    if questions.is_empty() {
        return "no open questions\n".to_owned();
    }
    let row = |it: &Question| {
        let options: Vec<String> =
            it.options.iter().enumerate().map(|(at, text)| format!("{}) {text}", at + 1)).collect();
        let answer = it
            .answer
            .as_ref()
            .map(|answer| format!(" → {answer} ({})", it.answerer.as_deref().unwrap_or_default()));
        let text = format!("{}  {}", it.question, options.join("  "));
        let votes: Vec<String> =
            it.votes.iter().map(|vote| format!("{}: {}", vote.agent, vote.answer)).collect();
        let votes = match votes.as_slice() {
            [] => String::new(),
            [..] => format!("  (so far {})", votes.join("; ")),
        };
        let text = format!("{}{}{votes}", text.trim_end(), answer.unwrap_or_default());
        [
            Cell::from(it.number.to_string()),
            Cell::from(it.agent.as_str()),
            Cell::from(since(&it.asked_at, now)),
            Cell::from(one_line(it.to.split_once(':').map_or(it.to.as_str(), |(_, to)| to))),
            Cell::from(it.state.as_str()),
            Cell::from(one_line(&text)),
        ]
    };
    let rows: Vec<_> = questions.iter().map(row).collect();
    let list = wrapped(["NO", "AGENT", "AGE", "TO", "STATE", "QUESTION"], &rows, columns);
    match questions.iter().any(|it| it.state == "open") {
        true => format!("{list}Answer one: gangline answer NO TEXT\n"),
        false => list,
    }
}

/// Returns what `inbox` prints.
pub(crate) fn letters(letters: &[Letter], now: UnixMicros, columns: Option<usize>) -> String {
    if letters.is_empty() {
        return "no letters; agents write one with `send` to `operator`\n".to_owned();
    }
    let settled = |it: &Letter| match (it.answer, &it.settled_by) {
        (Some(message), Some(by)) => format!(" → {message} ({by})"),
        (None, Some(by)) => format!(" → done ({by})"),
        (_, None) => String::new(),
    };
    let row = |it: &Letter| {
        [
            Cell::from(it.letter.to_string()),
            Cell::from(it.agent.as_str()),
            Cell::from(since(&it.sent_at, now)),
            Cell::from(it.state.as_str()),
            Cell::from(one_line(&format!("{}{}", it.body, settled(it)))),
        ]
    };
    let rows: Vec<_> = letters.iter().map(row).collect();
    let list = wrapped(["NO", "AGENT", "AGE", "STATE", "LETTER"], &rows, columns);
    match letters.iter().any(|it| it.settled_by.is_none()) {
        true => format!(
            "{list}Answer one: gangline inbox answer NO TEXT; put it away: gangline inbox done NO\n"
        ),
        false => format!("{list}`gangline trace mN` shows an answer\n"),
    }
}

/// Returns what `reminders` prints.
pub(crate) fn reminders(reminders: &[Reminder], now: UnixMicros) -> String {
    if reminders.is_empty() {
        return "no reminders; set one: gangline remind NICK WHEN TEXT\n".to_owned();
    }
    let due = |it: &Reminder| match parse_rfc3339(&it.due_at) {
        Some(at) if at > now => format!("in {}", age(at.since(now))),
        Some(at) => format!("{} ago", age(now.since(at))),
        None => "-".to_owned(),
    };
    let row = |it: &Reminder| {
        let repeats = it.repeats.as_ref().map(|rule| format!(" ({rule})")).unwrap_or_default();
        [
            Cell::from(it.reminder.to_string()),
            Cell::from(it.agent.as_str()),
            Cell::from(due(it)),
            Cell::from(one_line(&it.by)),
            Cell::from(one_line(it.target.as_deref().unwrap_or("-"))),
            Cell::from(it.state.as_str()),
            Cell::from(one_line(&format!("{}{repeats}", it.body))),
        ]
    };
    let rows: Vec<_> = reminders.iter().map(row).collect();
    let list = table(["NO", "AGENT", "DUE", "BY", "PLACE", "STATE", "REMINDER"], &rows);
    match reminders.iter().any(|it| it.state == "waiting") {
        true => format!("{list}Delete one: gangline reminders cancel NO\n"),
        false => list,
    }
}

fn since(at: &str, now: UnixMicros) -> String {
    parse_rfc3339(at).map_or_else(|| "-".to_owned(), |at| age(now.since(at)))
}
