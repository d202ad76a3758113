//! `gangline attach`: an agent's turns as they happen, until Ctrl-C or until nobody reads them; of an
//! agent in tmux, its terminal.

mod terminal;

use std::time::Duration;

use gangline_api::{
    ipc::{Command, Frame, Response},
    status::AgentStatus,
};
use gangline_core::AgentName;
use gangline_os::{clock, lock};
use jiff::tz::TimeZone;

use crate::{
    channel::{
        client::{AskError, Client, RESPONSE, Unreachable},
        reach::{LegacyTmp, Reach},
    },
    cli::Global,
    failure::Failure,
    names, output, place,
    show::{self, text::one_line},
    who::Who,
};

/// How often a daemon that went away is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What is shown, and how.
struct Show {
    json: bool,
    zone: TimeZone,
    /// The last event that was shown: a new connection continues after it.
    cursor: Option<String>,
}

/// Show an agent's turns as they happen
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The agent's nick
    pub(crate) agent: Who,
    /// For an agent in tmux: send your keys to its program too
    #[arg(long)]
    pub(crate) write: bool,
}

/// Shows events for as long as somebody looks.
pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let agent = names::agent(&place::existing(&global.place())?, &args.agent)?;
    if !global.json
        && let Some(failed) = terminal::show(global, &args, &agent)?
    {
        return Err(failed);
    }
    let env = |name: &str| std::env::var_os(name);
    let reach = Reach::find(&env, Some(&agent), LegacyTmp::No)?;
    let Some(reach) = reach else { return Err(Failure::user("no agent is named")) };
    let mut client =
        Client::dial(&reach.sockets).map_err(|error| absent(global, &reach.nick, error))?;
    let mut show = Show { json: global.json, zone: TimeZone::system(), cursor: None };
    loop {
        let Some(why) = show.follow(&mut client, &reach)? else { return Ok(0) };
        output::note(&format!("-- {}: {why}; waiting for its daemon", reach.nick));
        let Some(back) = back(&reach) else { return Ok(0) };
        client = back;
        output::note(&format!("-- {} is back", reach.nick));
    }
}

fn absent(global: &Global, nick: &AgentName, error: Unreachable) -> Failure {
    let runs = place::of_existing(&global.place())
        .ok()
        .and_then(|paths| lock::probe(&paths.agent_lock(nick.folded())).ok().flatten());
    if let Some(holder) = runs {
        return Failure::environment(error)
            .doing(format!("the daemon of {nick} runs, and its socket cannot be used: {holder}"))
            .hint("the daemon makes a removed socket again within 30 s: try again then")
            .hint(format!("what it does: gangline logs -f {nick}"));
    }
    Failure::user(format!("the daemon of {nick} is not running"))
        .hint("start it: `gangline up`, or `gangline start` and its nick")
        .hint(format!("what it did before: gangline logs {nick}"))
        .hint("which agents there are: gangline ps")
        .because(error)
}

/// Waits until the daemon can be spoken to again; none once nobody looks any more.
fn back(reach: &Reach) -> Option<Client> {
    while !output::is_unread() {
        std::thread::sleep(LOOK_EVERY);
        if let Ok(client) = Client::dial(&reach.sockets) {
            return Some(client);
        }
    }
    None
}

impl Show {
    /// Shows what one connection tells; returns why it ended, or none once nobody looks any more.
    fn follow(&mut self, client: &mut Client, reach: &Reach) -> Result<Option<String>, Failure> {
        let subscribe = Command::Subscribe { cursor: self.cursor.clone() };
        for command in [Command::Status { query: false }, subscribe] {
            let name = command.name();
            let response = match client.ask(command, reach.token.clone(), RESPONSE) {
                Ok(response) => response,
                Err(error) => return self.lost(error).map(Some),
            };
            if !response.ok {
                let error = one_line(response.error.as_deref().unwrap_or("unknown error"));
                return Err(Failure::user(format!("{name} failed: {error}")));
            }
            self.begin(response)?;
        }
        loop {
            match client.next_to_print() {
                Ok(Some(frame)) => self.frame(frame)?,
                Ok(None) => return Ok(None),
                Err(error) => return self.lost(error).map(Some),
            }
        }
    }

    fn lost(&self, error: AskError) -> Result<String, Failure> {
        match error {
            AskError::Closed | AskError::Lost(_) | AskError::Silent(_) => Ok(error.to_string()),
            AskError::Encode(_) | AskError::Frame(_) | AskError::TooLong => {
                Err(Failure::environment(error))
            }
        }
    }

    /// Shows a response: that of `status` as one line.
    fn begin(&mut self, response: Response) -> Result<(), Failure> {
        let data = response.data.as_ref();
        if let Some(cursor) = data.and_then(|data| data["cursor"].as_str()) {
            self.cursor = Some(cursor.to_owned());
        }
        if self.json {
            return self.raw(&Frame::Response(response));
        }
        let status: Option<AgentStatus> =
            response.data.and_then(|data| serde_json::from_value(data).ok());
        match status {
            Some(status) => {
                let line = show::live::status(&status, clock::system().now());
                output::print(&line)
            }
            None => Ok(()),
        }
    }

    fn frame(&mut self, frame: Frame) -> Result<(), Failure> {
        if let Frame::Event(event) = &frame {
            self.cursor = Some(event.seq.clone());
        }
        if self.json {
            return self.raw(&frame);
        }
        match frame {
            Frame::Event(event) => output::print(&show::live::event(&event, &self.zone)),
            Frame::Whisper(whisper) => output::print(&show::live::whisper(&whisper)),
            // Nobody has asked.
            Frame::Response(_) => Ok(()),
        }
    }

    fn raw(&self, frame: &Frame) -> Result<(), Failure> {
        let line = frame.encode().map_err(Failure::environment)?;
        output::print(&String::from_utf8_lossy(&line))
    }
}
