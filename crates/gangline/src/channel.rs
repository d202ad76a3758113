//! `gangline channel …` and `irc_client …`: an agent's shell speaks through the agent's daemon.
//!
//! It lives for a moment and is run often, so it has a path of its own: no logging, no async runtime
//! and no configuration as long as the daemon answers, and of the command line only its own part. Start at [`early`]; what is asked becomes a [`verb::Verb`], is carried by
//! [`client::Client`], and is told by [`messages`]. Without a daemon [`one_shot`] asks the chat server.

mod args;
pub(crate) mod ask;
pub(crate) mod client;
mod messages;
mod old;
mod one_shot;
pub(crate) mod reach;
mod verb;

use std::{ffi::OsString, io, path::Path, process::ExitCode, time::Duration};

use clap::Parser;
use gangline_api::ipc::{Command, Response, SetDirectoryData};
use gangline_core::AgentName;
use gangline_os::{fsio, paths::Overrides};

pub(crate) use self::args::ChannelArgs;
use self::{
    client::{Client, RESPONSE},
    reach::{LegacyTmp, Reach},
    verb::Verb,
};
use crate::{
    caller::{self, Caller},
    cli::Global,
    failure::Failure,
    output, place,
    show::text,
    who::Who,
};

/// The file that tells an agent about a folder (R1-24).
const INSTRUCTIONS: &str = "CLAUDE.md";
/// The most that is read of it, in bytes.
const INSTRUCTIONS_MAX: u64 = 1024 * 1024;
/// The name by which the older client is called.
const OLD_NAME: &str = "irc_client";

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Print {
    /// As sentences for people.
    Text,
    /// As the response frame.
    Frame,
}

/// One call.
#[derive(Debug)]
struct Asked {
    verb: Verb,
    print: Print,
    agent: Option<Who>,
    tmp: LegacyTmp,
    place: Overrides,
}

/// `gangline channel` alone: only its part of the command line.
#[derive(Debug, Parser)]
#[command(name = "gangline channel", bin_name = "gangline channel", version)]
#[command(about = "Send and read messages as an agent", max_term_width = 100)]
#[command(arg_required_else_help = true)]
struct Alone {
    #[command(flatten)]
    global: Global,
    #[command(flatten)]
    args: ChannelArgs,
}

/// Runs the program as `gangline channel`, as `irc_client` or as `gangline irc-client`, if it was
/// called so; looks at nothing but the arguments before it knows.
pub(crate) fn early(arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.peekable();
    let program = arguments.next()?;
    if Path::new(&program).file_name().is_some_and(|name| name == OLD_NAME) {
        return Some(old(arguments));
    }
    let first = arguments.peek()?.to_str()?.to_owned();
    match first.as_str() {
        "irc-client" => Some(old(arguments.skip(1))),
        "channel" => Some(channel(&arguments.collect::<Vec<_>>())),
        _ => None,
    }
}

fn channel(arguments: &[OsString]) -> ExitCode {
    if let Some(verb) = args::plain(&arguments[1..]) {
        let place = Overrides::default();
        let (print, tmp) = (Print::Text, LegacyTmp::No);
        return ended(perform(&Asked { verb, print, agent: None, tmp, place }));
    }
    match Alone::try_parse_from(arguments) {
        Ok(alone) => ended(run(&alone.global, alone.args)),
        Err(error) => crate::refused(&error),
    }
}

fn old(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let words: Vec<String> =
        arguments.map(|argument| argument.to_string_lossy().into_owned()).collect();
    ended(old::read(&words).and_then(|verb| match verb {
        None => output::print(old::USAGE).map(|()| 0),
        Some(verb) => perform(&Asked {
            verb,
            print: Print::Frame,
            agent: None,
            tmp: LegacyTmp::No,
            place: Overrides::default(),
        }),
    }))
}

fn ended(result: Result<u8, Failure>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            failure.report();
            ExitCode::from(failure.exit().code())
        }
    }
}

/// Does what the command line asks for; returns the exit code.
pub(crate) fn run(global: &Global, args: ChannelArgs) -> Result<u8, Failure> {
    let place = global.place();
    place::named_is_there(&place)?;
    caller::is_at(place.clone());
    perform(&Asked {
        print: if global.json { Print::Frame } else { Print::Text },
        agent: args.agent,
        tmp: if args.legacy_tmp { LegacyTmp::Yes } else { LegacyTmp::No },
        verb: args.command.verb(),
        place,
    })
}

fn perform(asked: &Asked) -> Result<u8, Failure> {
    let command = asked.verb.command()?;
    if let Command::SetDirectory { path } = &command {
        return tell(asked, &command, &instructions(path)?);
    }
    let env = |name: &str| std::env::var_os(name);
    let agent = asked.agent.as_ref().map(|who| reach::named(&asked.place, who));
    let agent = agent.transpose()?;
    let reach = Reach::find(&env, agent.as_ref(), asked.tmp)?;
    let Some(reach) = reach else {
        return without_daemon(asked, &command, None);
    };
    if !command.only_looks() {
        Caller::here().may_be(&reach.nick)?;
    }
    let mut client = match Client::dial(&reach.sockets) {
        Ok(client) => client,
        Err(error) => return without_daemon(asked, &command, Some((&reach, error))),
    };
    let response = client
        .ask(command.clone(), reach.token.clone(), patience(&command))
        .map_err(|error| messages::lost(&reach.nick, error))?;
    client.whispered();
    // A daemon of culture's asks the server and tells nobody what it said.
    let tells = response.data.as_ref().is_some_and(|data| data.get("users").is_some());
    if matches!(command, Command::Who { .. }) && response.ok && !tells {
        return ask_server(asked, &command, Some(&reach.nick));
    }
    if asked.print == Print::Frame {
        return tell(asked, &command, &response);
    }
    let response = ask::as_refused(&command, response);
    if !response.ok {
        return Err(messages::refused(asked.verb.name(), &command, &response, &reach.nick));
    }
    tell(asked, &command, &response)
}

/// Returns how long the daemon may take.
fn patience(command: &Command) -> Duration {
    match command {
        Command::Ask { timeout, .. } => Duration::from_secs(u64::from(*timeout) + 5),
        _ => RESPONSE,
    }
}

/// Prints the response; returns the exit code.
fn tell(asked: &Asked, command: &Command, response: &Response) -> Result<u8, Failure> {
    for warning in &response.warnings {
        output::note(&format!("warning: {}", text::one_line(warning)));
    }
    match asked.print {
        Print::Frame => output::json(response)?,
        Print::Text => {
            let told = messages::text(asked.verb.name(), command, response)?;
            output::print(&told.text)?;
            told.notes.iter().for_each(|note| output::note(note));
        }
    }
    Ok(u8::from(!response.ok))
}

/// Does what needs no agent over a connection of its own, and says so if there should be one.
fn without_daemon(
    asked: &Asked,
    command: &Command,
    tried: Option<(&Reach, client::Unreachable)>,
) -> Result<u8, Failure> {
    let nick = tried.as_ref().map(|(reach, _)| &reach.nick);
    match (one_shot::can(command), &tried) {
        (true, Some((reach, error))) => {
            messages::falling_back(&asked.verb, command, &reach.nick, error);
            ask_server(asked, command, nick)
        }
        (true, None) => ask_server(asked, command, None),
        (false, Some((reach, error))) => Err(messages::unreachable(&reach.nick, error)),
        (false, None) => Err(messages::nameless()),
    }
}

fn ask_server(asked: &Asked, command: &Command, nick: Option<&AgentName>) -> Result<u8, Failure> {
    let server = one_shot::server(&asked.place)?;
    match one_shot::answer(&server, nick, command) {
        Ok(response) if response.ok || asked.print == Print::Frame => {
            tell(asked, command, &response)
        }
        Ok(response) => Err(messages::no_channel(command, &response)),
        Err(error) => Err(messages::no_server(&server, error)),
    }
}

/// Confirms a folder and reads its instructions, if it has any (R1-24, C14): the daemon has no part
/// in it.
fn instructions(folder: &Path) -> Result<Response, Failure> {
    let directory =
        folder.canonicalize().ok().filter(|folder| folder.is_dir()).ok_or_else(|| {
            Failure::user(format!("there is no folder {}", folder.display()))
                .hint("name a folder that exists")
        })?;
    let path = directory.join(INSTRUCTIONS);
    // A folder that somebody else made may have a link there, to a file that they may not read.
    if !fsio::resolved(&path).starts_with(&directory) {
        let text = format!("{} is a link that leads out of the folder", path.display());
        return Err(Failure::user(text).hint("read the file that you mean by its own name"));
    }
    let (path, text) = match fsio::read_foreign_text(&path, INSTRUCTIONS_MAX) {
        Ok(text) => (Some(path.display().to_string()), text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (None, String::new()),
        Err(error) => {
            let doing = format!("cannot read {}", path.display());
            return Err(Failure::environment(error).doing(doing));
        }
    };
    let directory = directory.display().to_string();
    let data = SetDirectoryData { directory, path, text };
    Response::done(None, &data).map_err(Failure::environment)
}
