//! The command line: what may be typed, and its help. No logic.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand};
use gangline_core::{MessageId, model::ModelName};

use self::{
    begin::{Demo, ImportArgs, Init},
    deciding::{Approvals, Decide},
    serve::{HarnessCommand, Ircd, StandinCommand},
    sessions::SessionsArgs,
    skills::SkillsCommand,
    who::Who,
};
use crate::{channel::ChannelArgs, logging::Voice, mcp::McpArgs};

pub(crate) mod begin;
pub(crate) mod deciding;
pub(crate) mod message;
pub(crate) mod number;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod skills;
pub(crate) mod started;
pub(crate) mod who;

/// Puts AI coding agents into chat rooms, beside people.
#[derive(Debug, Parser)]
#[command(name = "gangline", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Start with `gangline demo`: it needs no key and no network.\n\
    Exit codes: 0 done; 1 your input or the state forbids it; 2 the surroundings failed \
    (disk, port, program); 3 another \
    daemon has the agent; 64 wrong usage; 78 a configuration or \
    database that no restart will fix.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Where the help of a command has what every command takes: behind its own options.
const GLOBAL: &str = "Options of every command";

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// The state folder [default: $XDG_STATE_HOME/gangline; reading commands fall back to the
    /// demo's when only that exists]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "DIR", env = "GANGLINE_STATE")]
    pub(crate) state: Option<PathBuf>,
    /// The configuration [default: ./agents.yaml, else $XDG_CONFIG_HOME/gangline/agents.yaml]
    #[arg(long, global = true, help_heading = GLOBAL, value_name = "FILE", env = "GANGLINE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON instead of text, on every reading command
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Set up a fleet: look for coding programs, write agents.yaml, make the owner's password
    Init(Init),
    /// Read culture's configuration and write it as agents.yaml; its files stay as they are
    Import(ImportArgs),
    /// Run a hub with one guide agent and a stand-in model: nothing to install, no key
    Demo(Demo),
    /// Run the hub: IRC server, agents of the configuration; -d in the background
    ///
    /// In the foreground Ctrl-C ends the agents, then the hub; a second one interrupts open turns, a
    /// third one kills.
    Up(Up),
    /// Print the lines that let you into the chat: WeeChat, irssi, ii, any other client
    Join,
    /// Stop all agents and the hub
    Down(Down),
    /// Start stopped agents, and the hub if none runs
    Start(Start),
    /// End agents and keep them stopped, also over a restart of the hub
    Stop(Stop),
    /// Restart agents, one after the other
    Restart(Restart),
    /// Hold new turns of agents; messages are stored and wait
    Pause(Whom),
    /// Let paused agents continue, and parked ones, whose backend kept failing, try again
    Resume(Whom),
    /// End the turn that an agent is in, or all that follows from one message
    Interrupt(Interrupt),
    /// Give a request more turns, so that its held messages continue
    Release {
        /// A held message, such as `m42`; the whole request continues
        #[arg(value_parser = message::id)]
        message: MessageId,
    },
    /// Show the model of an agent, or change it from the next turn on
    Model(ModelArgs),
    /// List an agent's sessions by GT_SESSION_ID, each with its backend's own id
    Sessions(SessionsArgs),
    /// Shorten an agent's context when no turn is open
    Compact {
        /// The agent's nick
        agent: Who,
    },
    /// Begin a new session of an agent when no turn is open
    Clear {
        /// The agent's nick
        agent: Who,
    },
    /// Run the small IRC server alone, in the foreground
    Ircd(Ircd),
    /// List the agents and what each of them does
    ///
    /// TURN is the open turn. AGE is the turn's age, or without one the time since the last one
    /// began. QUEUE counts messages that wait, UP is the daemon's age. With --wide a version
    /// with `old` was replaced on the disk: a restart uses the new one.
    Ps {
        /// All columns: process, version and channels, too
        #[arg(long, short)]
        wide: bool,
    },
    /// Show one agent, or all
    Status {
        /// The agent's nick
        agent: Option<Who>,
    },
    /// Show what an agent was asked and did, oldest first
    ///
    /// Messages, tools, approvals, answers, starts and ends of its backend, and troubles.
    Logs(Logs),
    /// Show an agent's turns as they happen
    Attach(Attach),
    /// Give an agent a prompt from the command line
    Prompt(Prompt),
    /// Take back a message that waits
    Cancel(message::About),
    /// Show the life of one message on one screen
    Trace(message::About),
    /// Speak and read in channels, as an agent: what an agent's skill calls
    Channel(ChannelArgs),
    #[command(about = crate::mcp::ABOUT, long_about = crate::mcp::LONG)]
    Mcp(McpArgs),
    /// List the approvals that wait, or show all of one
    Approvals(Approvals),
    /// Allow what an approval asks for
    Approve(deciding::Approve),
    /// Refuse what an approval asks for; the reason is told to the model
    Deny(Decide),
    /// List or remove the rules made by `always`: what runs without being asked about
    #[command(subcommand)]
    Policy(deciding::Policy),
    /// Check the configuration, or print its schema
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Check the installation, the agents and their programs; say how to fix what is wrong
    ///
    /// Looks and changes nothing: configuration, state folder, stores, hub, IRC server, sockets, room
    /// on the disk; of each agent its status, backend, program, version, login, folder, MCP servers
    /// and hooks. It takes seconds and needs no network but the IRC server of the configuration.
    ///
    /// Each line is `ok`; `note` = nothing to do, or nothing that can be told from outside; `warn` =
    /// something may be wrong; `fail` = what is configured cannot work, or an agent cannot answer.
    /// After `->` comes what to do.
    ///
    /// With --deep every program is also driven through the rules that Gangline relies on, against a
    /// stand-in model, in a folder that is thrown away: no network, no tokens, about a minute each.
    ///
    /// Exit codes: 0 without a `fail` and without a broken rule, warnings or not; 1 with one; 130
    /// after Ctrl-C.
    Doctor(Doctor),
    /// The backends: what is installed, and whether it works
    #[command(subcommand)]
    Runtime(RuntimeCommand),
    /// Units for systemd
    #[command(subcommand)]
    Service(ServiceCommand),
    /// The skill that teaches coding programs to use channels from their shell
    #[command(subcommand)]
    Skills(SkillsCommand),
    /// The stand-in model: a scripted server, for demos and tests
    #[command(subcommand)]
    Standin(StandinCommand),
    /// The native model loop, without a chat server
    #[command(subcommand)]
    Harness(HarnessCommand),
    /// Print what a shell needs to complete commands and options
    ///
    /// For instance: gangline completions bash > ~/.local/share/bash-completion/completions/gangline
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write a manual page for each command into a folder
    ///
    /// For instance: gangline man ~/.local/share/man/man1
    Man {
        /// The folder; made if it is not there
        #[arg(value_name = "DIR")]
        dir: PathBuf,
    },
    /// The process of one agent; started by `up`
    Daemon(Daemon),
}

impl Command {
    /// Returns whether the process outlives the shell command that an agent started it with: it
    /// must not carry that agent's mark.
    pub(crate) fn stays(&self) -> bool {
        matches!(self, Self::Demo(_) | Self::Up(_) | Self::Daemon(_))
    }

    /// Returns how much the process tells of its life on standard error.
    pub(crate) fn voice(&self) -> Voice {
        match self {
            Self::Up(up) if !up.detach => Voice::Talkative,
            Self::Demo(_) | Self::Daemon(_) | Self::Ircd(_) => Voice::Talkative,
            Self::Doctor(_) => Voice::Errors,
            _ => Voice::Usual,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Up {
    /// Start the hub in the background and wait until the agents are ready; a hub that runs already
    /// reads its configuration again
    #[arg(short, long)]
    pub(crate) detach: bool,
    /// Run as a service: print no password, and leave the agents running on SIGTERM
    #[arg(long, conflicts_with = "detach")]
    pub(crate) service: bool,
    /// Give up waiting after so many seconds (exit code 1; the hub keeps running)
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "detach",
          value_parser = number::within::<u64>(0, number::ANY))]
    pub(crate) timeout: u64,
    /// Write one JSON line to this file when everything is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
    /// Where the IRC server listens; loopback only [default: server.host and server.port]
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Start no agents: the IRC server and the accounts only, for daemons that something else
    /// starts
    #[arg(long)]
    pub(crate) no_agents: bool,
    /// The longest wait before a daemon that died is started again
    #[arg(long, value_name = "SECONDS", default_value_t = 60,
          value_parser = number::within::<u64>(1, 3600))]
    pub(crate) restart_delay_max: u64,
    /// Use this backend instead of the configured one; `gangline runtime list` names them.
    /// Every agent of the configuration has it from its next start on, and keeps it until `start`,
    /// or another --runtime
    #[arg(long, value_name = "NAME")]
    pub(crate) runtime: Option<String>,
}

/// Some agents, or all of them.
#[derive(Debug, Clone, Args)]
pub(crate) struct Whom {
    /// The agents' nicks
    #[arg(value_name = "NICK", required_unless_present = "all", conflicts_with = "all")]
    pub(crate) agents: Vec<Who>,
    /// All agents
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// The agent's nick
    pub(crate) agent: Who,
    /// The model, as its backend calls it; kept until another is chosen
    #[arg(conflicts_with = "default")]
    pub(crate) name: Option<ModelName>,
    /// Go back to the model of agents.yaml
    #[arg(long)]
    pub(crate) default: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Down {
    /// End the hub alone and leave the agents running; the next hub adopts them
    #[arg(long)]
    pub(crate) hub_only: bool,
    /// Interrupt open turns instead of letting them settle
    #[arg(long, conflicts_with = "hub_only")]
    pub(crate) now: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Start {
    #[command(flatten)]
    pub(crate) whom: Whom,
    /// Use this backend instead of the configured one; `gangline runtime list` names them.
    /// Kept over restarts of agent and hub. Without it an agent starts with the configured one
    #[arg(long, value_name = "NAME")]
    pub(crate) runtime: Option<String>,
    /// Do not wait until they are ready
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Interrupt {
    /// The agent's nick
    #[arg(value_name = "NICK", required_unless_present = "cause", conflicts_with = "cause")]
    pub(crate) agent: Option<Who>,
    /// End every turn, of all agents, that follows from the root of this message; what waits for
    /// one is cancelled, and so is what comes later
    #[arg(long, value_name = "MESSAGE", value_parser = message::id)]
    pub(crate) cause: Option<MessageId>,
}

#[derive(Debug, Args)]
pub(crate) struct Stop {
    #[command(flatten)]
    pub(crate) whom: Whom,
    /// Interrupt an open turn instead of letting it settle
    #[arg(long)]
    pub(crate) now: bool,
    /// Do not wait until they have ended
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Restart {
    /// The agents' nicks
    #[arg(value_name = "NICK", required_unless_present_any = ["all", "hub"],
          conflicts_with_all = ["all", "hub"])]
    pub(crate) agents: Vec<Who>,
    /// All agents that are not stopped
    #[arg(long)]
    pub(crate) all: bool,
    /// The hub alone; it adopts the agents
    #[arg(long, conflicts_with_all = ["all", "when_idle", "no_wait"])]
    pub(crate) hub: bool,
    /// Wait with each until it has nothing to do
    #[arg(long)]
    pub(crate) when_idle: bool,
    /// Use this backend instead of the configured one; `gangline runtime list` names them.
    /// Kept over restarts of agent and hub; the configured one by its name goes back. Without it
    /// an agent keeps the backend that it has
    #[arg(long, value_name = "NAME", conflicts_with = "hub")]
    pub(crate) runtime: Option<String>,
    /// Do not wait until they are ready
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The agent's nick; all agents if absent
    pub(crate) agent: Option<Who>,
    /// Show the program's own steps, too: phases, steps of the start, thoughts without their text.
    /// With --json they are always there
    #[arg(long)]
    pub(crate) all: bool,
    /// How many events
    #[arg(short = 'n', long, default_value_t = 50, value_parser = number::within::<u32>(1, 500))]
    pub(crate) lines: u32,
    /// Follow what happens, until Ctrl-C; as JSON, one event a line
    #[arg(short, long)]
    pub(crate) follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Attach {
    /// The agent's nick
    pub(crate) agent: Who,
    /// For an agent in tmux: send your keys to its program too
    #[arg(long)]
    pub(crate) write: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Prompt {
    /// The agent's nick
    pub(crate) agent: Who,
    /// The text, quoted or not; `-` reads standard input
    #[arg(required = true)]
    pub(crate) text: Vec<String>,
    /// Wait for the answer and print it
    #[arg(long)]
    pub(crate) wait: bool,
    /// Give up waiting after so many seconds (exit code 1; the message stays queued)
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "wait",
          value_parser = number::within::<u64>(0, number::ANY))]
    pub(crate) timeout: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Read the configuration and say what is wrong with it, with line and column
    Check {
        /// The file [default: as for `up`]
        file: Option<PathBuf>,
    },
    /// Print the JSON Schema of agents.yaml
    Schema,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// Write the units: one for the hub and a template with one instance an agent
    Install(ServiceInstall),
}

#[derive(Debug, Args)]
pub(crate) struct ServiceInstall {
    /// For this user's systemd (the default)
    #[arg(long, conflicts_with = "system")]
    pub(crate) user: bool,
    /// For the machine's systemd; needs root
    #[arg(long)]
    pub(crate) system: bool,
    /// The user that the machine's systemd runs it as [default: who called sudo]
    #[arg(long, value_name = "NAME", requires = "system")]
    pub(crate) run_as: Option<String>,
    /// Print the units and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove the units instead
    #[arg(long)]
    pub(crate) uninstall: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RuntimeCommand {
    /// List every backend: its program and version, where it comes from, which agents it drives
    ///
    /// Backends are built in, or stand in $XDG_CONFIG_HOME/gangline/runtimes.json,
    /// ~/.gastown/runtimes.json and Gas Town's settings. Nothing of their logins is shown.
    List(RuntimeList),
    /// Change the usual backend
    #[command(subcommand)]
    Set(RuntimeSet),
    /// The same as `gangline doctor`
    Doctor(Doctor),
}

#[derive(Debug, Args)]
pub(crate) struct RuntimeList {
    /// Name the fields of the files that Gangline does not use
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RuntimeSet {
    /// Take this backend for agents without `agent:`, written to gangline/runtimes.json
    Default {
        /// The backend's name
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Agents and backends to look at [default: the installation, all agents, what is installed]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Run the programs, not only look for them
    #[arg(long)]
    pub(crate) deep: bool,
    /// Show each rule, not only a line for each backend
    #[arg(long, requires = "deep")]
    pub(crate) details: bool,
    /// Show each rule, when it is tried and how long it takes
    #[arg(long, requires = "deep")]
    pub(crate) times: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Daemon {
    /// The agent's nick
    pub(crate) agent: Who,
    /// Where a foreign IRC server is, if not as configured; the own one is reached by its socket
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) irc: Option<String>,
    /// Use this backend instead of the configured one; `gangline runtime list` names them.
    /// For this process only; without it the one that `up`, `start` or `restart` was given
    #[arg(long, value_name = "NAME")]
    pub(crate) runtime: Option<String>,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
