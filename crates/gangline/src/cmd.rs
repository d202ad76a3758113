//! The commands, one file each: its arguments with their help, and what it does. A new command is a file
//! and its lines in the two lists below. Start at [`Command::run`].

mod alerts;
mod answer;
mod approvals;
mod approve;
mod ask;
mod attach;
mod attention;
mod budget;
mod cancel;
pub(crate) mod channel;
mod choice;
mod clear;
mod compact;
mod completions;
mod config;
mod daemon;
mod decide;
mod demo;
mod deny;
mod doctor;
mod down;
mod effort;
mod harness;
mod import;
mod inbox;
mod init;
mod interrupt;
mod ircd;
mod join;
mod logs;
mod man;
pub(crate) mod mcp;
mod model;
mod pause;
pub(crate) mod policy;
mod prompt;
mod ps;
mod questions;
mod release;
mod remind;
mod reminders;
mod request;
mod restart;
mod resume;
mod runtime;
mod service;
mod sessions;
mod skills;
mod standin;
mod start;
pub(crate) mod started;
mod status;
mod stop;
mod token;
mod trace;
mod trust;
mod up;
mod wake;
mod whisper;

use clap::{Parser, Subcommand};
use gangline_os::{CancellationToken, signals::Signals};

use crate::{cli::Global, failure::Failure, logging::Voice};

/// Puts AI coding agents into chat rooms, beside people.
#[derive(Debug, Parser)]
#[command(name = "gangline", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Start with `gangline demo`: it needs no key and no network.\n\
    Exit codes: 0 done; 1 invalid input, or not possible in this state; 2 the environment \
    failed (disk, port, program); 3 another daemon runs this agent; 64 wrong usage; 78 a \
    fault in the configuration or database that a restart does not fix.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Declares the commands in the order of the help: `Name = module`. A module has the arguments, `Args`,
/// whose documentation is the command's help, and what runs it, `run`.
macro_rules! commands {
    ($($name:ident = $module:ident),* $(,)?) => {
        #[derive(Debug, Subcommand)]
        pub(crate) enum Command { $($name($module::Args)),* }

        impl Command {
            /// Runs the command; returns its exit code. Each is boxed: in one value that could be any of
            /// them, the smallest would take the room of the largest.
            pub(crate) async fn run(self, global: &Global) -> Result<u8, Failure> {
                match self { $(Self::$name(args) => Box::pin($module::run(global, args)).await),* }
            }
        }
    };
}

commands! {
    Init = init,
    Import = import,
    Demo = demo,
    Up = up,
    Join = join,
    Down = down,
    Start = start,
    Stop = stop,
    Restart = restart,
    Pause = pause,
    Resume = resume,
    Interrupt = interrupt,
    Release = release,
    Model = model,
    Effort = effort,
    Sessions = sessions,
    Compact = compact,
    Clear = clear,
    Ircd = ircd,
    Ps = ps,
    Status = status,
    Logs = logs,
    Attach = attach,
    Prompt = prompt,
    Whisper = whisper,
    Ask = ask,
    Wake = wake,
    Cancel = cancel,
    Trace = trace,
    Channel = channel,
    Mcp = mcp,
    Budget = budget,
    Attention = attention,
    Approvals = approvals,
    Approve = approve,
    Deny = deny,
    Policy = policy,
    Questions = questions,
    Answer = answer,
    Inbox = inbox,
    Alerts = alerts,
    Remind = remind,
    Reminders = reminders,
    Token = token,
    Trust = trust,
    Config = config,
    Doctor = doctor,
    Runtime = runtime,
    Service = service,
    Skills = skills,
    Standin = standin,
    Harness = harness,
    Completions = completions,
    Man = man,
    Daemon = daemon,
}

impl Command {
    /// Returns whether the process outlives the shell command that an agent started it with: it
    /// must not carry that agent's run id.
    pub(crate) fn stays(&self) -> bool {
        matches!(self, Self::Demo(_) | Self::Up(_) | Self::Daemon(_))
    }

    /// Returns how much the process logs to standard error.
    pub(crate) fn voice(&self) -> Voice {
        match self {
            Self::Up(up) if !up.detach => Voice::Talkative,
            Self::Demo(_) | Self::Daemon(_) | Self::Ircd(_) => Voice::Talkative,
            Self::Doctor(_) => Voice::Errors,
            _ => Voice::Usual,
        }
    }
}

/// Returns a token that the first request to end cancels, and what waits for that request: poll it
/// beside the work.
fn until_asked() -> Result<(CancellationToken, impl Future<Output = ()>), Failure> {
    let stop = CancellationToken::new();
    let mut signals = Signals::new()
        .map_err(|error| Failure::environment(error).doing("cannot listen to signals"))?;
    let asked = stop.clone();
    let waiting = async move {
        signals.next().await;
        asked.cancel();
        // The work ends by itself now, or by a second request.
        signals.next().await;
    };
    Ok((stop, waiting))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
