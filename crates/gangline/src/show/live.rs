//! Events as they happen: as `logs` tells them, but texts, arguments and thoughts in full.

use gangline_agent::log::{Entry, describe};
use gangline_api::{
    event::{Event, EventRecord},
    ipc::Whisper,
    status::{AgentStatus, WaitingFor},
};
use gangline_core::block::Block;
use gangline_os::clock::{UnixMicros, parse_rfc3339};
use jiff::tz::TimeZone;

use super::{
    agents::{held, running},
    approvals::how,
    text::{Paint, age, lines, one_line, paint, time},
};

#[cfg(test)]
mod tests;

/// The column at which texts begin.
const TEXT_AT: usize = 25;

/// Returns what an agent does now, on a line or a few.
pub(crate) fn status(agent: &AgentStatus, now: UnixMicros) -> String {
    let mut parts = vec![one_line(&agent.description)];
    #[allow(clippy::cast_possible_truncation, reason = "the wire has seconds as a float")]
    let last = agent.last_activation.map(|seconds| now.since(UnixMicros((seconds * 1e6) as i64)));
    parts.extend(last.map(|last| format!("the last turn began {} ago", age(last))));
    let nick = paint(Paint::Bold, agent.nick.as_str());
    let mut out = format!("{nick} {}: {}\n", one_line(agent.phase.as_str()), parts.join("; "));
    if let Some(tool) = &agent.tool {
        out.push_str(&format!("  runs {}\n", running(tool, now)));
    }
    for waiting in &agent.waiting_for {
        out.push_str(&match waiting {
            WaitingFor::Approval { number, tool, summary, .. } => {
                let asked = format!("approval {number}: {}: {}", one_line(tool), lines(summary));
                format!("{}\n{}\n", indented(&asked, 2), indented(&how(&agent.nick, *number), 2))
            }
            WaitingFor::Question { number, question, .. } => format!(
                "  question {number}: {}\n  `gangline answer {number} TEXT` answers it\n",
                one_line(question)
            ),
            WaitingFor::Login { hint } => format!("  a login: {}\n", one_line(hint)),
            WaitingFor::Guidance { why } => {
                format!("  `resume` or `abort`: {}\n", one_line(why))
            }
            WaitingFor::Resume { why } => format!("  `resume`: {}\n", one_line(why)),
            WaitingFor::Release { .. } => {
                format!("  {}\n", held(waiting).unwrap_or_default())
            }
            WaitingFor::Irc { trouble } => format!("  IRC: {}\n", one_line(trouble)),
        });
    }
    out + &format!("{}\n", paint(Paint::Dim, "Ctrl-C leaves; the agent keeps running"))
}

/// Returns the lines of one event; none for one that tells nothing.
pub(crate) fn event(event: &EventRecord, zone: &TimeZone) -> String {
    let at = parse_rfc3339(&event.at).map_or_else(|| one_line(&event.at), |at| time(at, zone));
    let told = match event.event() {
        Ok(Some(Event::Assistant(message))) => message.content.iter().filter_map(block).collect(),
        Ok(Some(Event::ApprovalAsked(it))) => {
            let asked = format!("{}: {}", one_line(&it.tool), lines(&it.summary));
            let what = format!("approval {}", it.number);
            vec![Entry { what, text: format!("{asked}\n{}", how(&event.agent, it.number)) }]
        }
        Ok(_) | Err(_) => describe(event),
    };
    told.into_iter().map(|told| row(&at, &told)).collect()
}

/// Returns the lines of a whisper.
pub(crate) fn whisper(whisper: &Whisper) -> String {
    let text = format!("[{}] {}", one_line(&whisper.whisper_type), lines(&whisper.message));
    row("", &Entry { what: "whisper".to_owned(), text })
}

fn row(at: &str, Entry { what, text }: &Entry) -> String {
    let at = paint(Paint::Dim, &format!("{at:<12}"));
    let text = indented(text.trim_end(), TEXT_AT);
    format!("{at} {what:<11} {}\n", text.trim_start())
}

fn block(block: &Block) -> Option<Entry> {
    let (what, text) = match block {
        Block::Text { text } if text.trim().is_empty() => return None,
        Block::Text { text } => ("text", lines(text)),
        Block::ToolUse { name, input, .. } => {
            ("tool", format!("{} {}", one_line(name), input_of(input)))
        }
        Block::Thinking { thinking } if thinking.trim().is_empty() => ("thinking", "…".to_owned()),
        Block::Thinking { thinking } => ("thinking", lines(thinking)),
    };
    Some(Entry { what: what.to_owned(), text })
}

/// Returns a tool's arguments: a line for each, so that commands and files can be read.
fn input_of(input: &serde_json::Value) -> String {
    let Some(fields) = input.as_object() else { return lines(&input.to_string()) };
    let shown = fields.iter().map(|(name, value)| match value.as_str() {
        Some(text) => format!("{}: {}", one_line(name), lines(text)),
        None => format!("{}: {}", one_line(name), lines(&value.to_string())),
    });
    shown.collect::<Vec<_>>().join("\n")
}

/// Returns the lines with `by` spaces before each.
fn indented(text: &str, by: usize) -> String {
    let pad = " ".repeat(by);
    let padded = text.lines().map(|line| match line {
        "" => String::new(),
        line => format!("{pad}{line}"),
    });
    padded.collect::<Vec<_>>().join("\n")
}
