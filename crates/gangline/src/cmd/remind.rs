//! `gangline remind`: a person has an agent reminded of something later.

use std::io::{self, Read as _};

use gangline_agent::long_reminders::TooLong;
use gangline_core::reminder::{self, Due, DueError};
use gangline_os::change_notice;
use jiff::tz::TimeZone;

use super::{prompt, reminders};
use crate::{caller, cli::Global, failure::Failure, names, output, owner, place, store, who::Who};

/// Remind an agent of something at a later time, once or repeatedly
#[derive(Debug, clap::Args)]
#[command(
    after_help = "WHEN is for example `in 20 min`, `tomorrow 9:00`, `2026-12-01 09:00 Europe/Berlin`, \
    `every weekday 8:30` or five fields of cron. Quote it if the text could be read as a part of it. \
    For a long text, up to 1 MiB, give `-` as the TEXT: it is read from standard input. \
    The agent gets the text from `reminder`; `gangline trace` of that message shows its answer. \
    `gangline reminders` lists what waits."
)]
pub(crate) struct Args {
    /// The agent's nick
    agent: Who,
    /// When, and the text; `-` reads the text from standard input
    #[arg(required = true, num_args = 2.., value_names = ["WHEN", "TEXT"])]
    said: Vec<String>,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    caller::refuse("set reminders in the owner's name")?;
    let (due, body) = read(&args.said)?;
    let body = if body == "-" { from_stdin()? } else { body };
    let installation = place::existing(&global.place())?;
    let agent = names::agent(&installation, &args.agent)?;
    let loaded = installation.configuration();
    let paths = installation.paths;
    let store = store::for_message(&paths, &agent).await?;
    store::known(&store, &paths, &agent).await?;
    let request = format!("cli/{}", uuid::Uuid::new_v4());
    let body = owner::reminder_text((&paths, loaded.as_ref()), &agent, &body);
    let body = body.map_err(not_stored)?;
    let made = store.remind(owner::reminder(&agent, request, (&due, body))).await?;
    change_notice::notify(&paths.change_notice(agent.folded()));
    prompt::warn_if_down(&paths, &agent, "the reminder");
    match global.json {
        true => output::json(&reminders::wire(&made))?,
        false => {
            let told = reminder::made(made.id, &due, &TimeZone::system());
            output::print(&format!("{told}\n"))?;
        }
    }
    Ok(0)
}

/// Reads a text that is too long for a command line from standard input.
fn from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    // One byte more than the limit, so that a longer text is refused, not cut.
    io::stdin()
        .take(reminder::BODY_MAX as u64 + 1)
        .read_to_string(&mut text)
        .map_err(|error| Failure::environment(error).doing("cannot read standard input"))?;
    match text.trim() {
        "" => Err(empty()),
        text => Ok(text.to_owned()),
    }
}

fn empty() -> Failure {
    Failure::user("no reminder is set: its text is empty")
        .hint("say after the time what the agent is reminded of")
}

fn not_stored(error: TooLong) -> Failure {
    match error {
        TooLong::Refused => Failure::user(format!("no reminder is set: {error}"))
            .hint("put it into a file that the agent may read, and let the text name that"),
        TooLong::Write(_) => Failure::environment(error).doing("no reminder is set"),
    }
}

/// Reads when and what: a time that was quoted is the first word, otherwise it is the longest
/// beginning that is one.
fn read(said: &[String]) -> Result<(Due, String), Failure> {
    let zones = |name: &str| TimeZone::get(name).ok();
    let now = owner::now();
    let refused = |error: DueError| Failure::user(format!("no reminder is set: {error}"));
    let (due, body) = match said {
        [when, text @ ..] if when.trim().contains(char::is_whitespace) => {
            (reminder::due(when, &now, &zones).map_err(refused)?, text.join(" "))
        }
        words => {
            let line = words.join(" ");
            let (due, text) = reminder::due_and_text(&line, &now, &zones).map_err(refused)?;
            (due, text.to_owned())
        }
    };
    if body.trim().is_empty() {
        return Err(empty());
    }
    Ok((due, body.trim().to_owned()))
}
