//! The command line: what may be typed, and its help. No logic.

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand};
use gangline_core::{ApprovalNumber, MessageId, model::ModelName, name::AgentName};

use crate::{channel::ChannelArgs, mcp::McpArgs};

/// Hitches AI coding agents to a chat network that people and agents share.
#[derive(Debug, Parser)]
#[command(name = "gangline", version, about, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Start with `gangline demo`: it needs no key and no network.\n\
    Exit codes: 0 done; 1 your input or the state forbids it; 2 the surroundings failed \
    (disk, port, program); 3 another \
    daemon has the agent; 64 wrong usage; 78 a configuration that no restart will mend.")]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// The state folder [default: $XDG_STATE_HOME/gangline; reading commands fall back to the
    /// demo's when only that exists]
    #[arg(long, global = true, value_name = "DIR", env = "GANGLINE_STATE")]
    pub(crate) state: Option<PathBuf>,
    /// The configuration [default: ./agents.yaml, else $XDG_CONFIG_HOME/gangline/agents.yaml]
    #[arg(long, global = true, value_name = "FILE", env = "GANGLINE_CONFIG")]
    pub(crate) config: Option<PathBuf>,
    /// Print JSON instead of text, on every reading command
    #[arg(long, global = true)]
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
    /// In the foreground Ctrl-C ends the agents, then the hub; a second one is in haste, a third
    /// one kills.
    Up(Up),
    /// End the agents, then the hub
    Down(Down),
    /// Let agents run that are stopped
    Start(Start),
    /// End agents and keep them stopped, also over a restart of the hub
    Stop(Stop),
    /// End agents and start them anew, one after the other
    Restart(Restart),
    /// Let agents begin no new turns; what comes is kept
    Pause(Whom),
    /// Let agents go on that are paused, or parked after too many deaths of their backend
    Resume(Whom),
    /// End the turn that an agent is in
    Interrupt {
        /// The agent's nick
        agent: AgentName,
    },
    /// Show which model an agent uses, or have it use another one from its next turn on
    Model(ModelArgs),
    /// Let an agent shorten its context, once no turn is open
    Compact {
        /// The agent's nick
        agent: AgentName,
    },
    /// Let an agent begin a new session, once no turn is open
    Clear {
        /// The agent's nick
        agent: AgentName,
    },
    /// Run the small IRC server alone, in the foreground
    Ircd(Ircd),
    /// List the agents and what each of them does
    ///
    /// TURN is the open turn, AGE how long it has been going on, or without one how long ago the
    /// last one began. QUEUE counts messages that wait, UP is the daemon's age. A version with
    /// `old` was replaced on the disk: a restart takes the new one.
    Ps,
    /// Show one agent, or all
    Status {
        /// The agent's nick
        agent: Option<AgentName>,
    },
    /// Show what an agent did, oldest first
    Logs(Logs),
    /// Show an agent's turns as they happen
    Attach(Attach),
    /// Give an agent a prompt from the command line
    Prompt(Prompt),
    /// Show the life of one message on one screen
    Trace {
        /// The message's id, such as m42
        message: MessageId,
    },
    /// Speak and read in channels, as an agent: what an agent's skill calls
    Channel(ChannelArgs),
    /// The tools of an agent's daemon over standard streams: started by the agent's program
    Mcp(McpArgs),
    /// List the approvals that wait, or all
    Approvals {
        /// Closed ones too
        #[arg(long)]
        all: bool,
    },
    /// Allow what an approval asks for
    Approve(Decide),
    /// Refuse what an approval asks for
    Deny(Decide),
    /// Check the configuration, or print its schema
    #[command(subcommand)]
    Config(ConfigCommand),
    /// The backends: what is installed, and whether it works
    #[command(subcommand)]
    Runtime(RuntimeCommand),
    /// Units for systemd
    #[command(subcommand)]
    Service(ServiceCommand),
    /// The text by which coding programs learn to speak in channels from their shell
    #[command(subcommand)]
    Skills(SkillsCommand),
    /// The stand-in model: a scripted server, for demos and tests
    #[command(subcommand)]
    Standin(StandinCommand),
    /// The native model loop by itself
    #[command(subcommand)]
    Harness(HarnessCommand),
    /// The process of one agent; started by `up`
    Daemon(Daemon),
}

impl Command {
    /// Returns whether the process outlives the shell command that an agent started it with: it
    /// must not carry that agent's mark.
    pub(crate) fn stays(&self) -> bool {
        matches!(self, Self::Demo(_) | Self::Up(_) | Self::Daemon(_))
    }

    /// Returns whether the process tells of its life on standard error.
    pub(crate) fn talkative(&self) -> bool {
        match self {
            Self::Up(up) => !up.detach,
            other => matches!(other, Self::Demo(_) | Self::Daemon(_) | Self::Ircd(_)),
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Init {
    /// The folder of the configuration [default: that of --config, else $XDG_CONFIG_HOME/gangline]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// The server's name, which every nick begins with [default: from the machine's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) server: Option<String>,
    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
    /// Move a configuration that is there aside, under a name with the time
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// server.yaml, agents.yaml, mesh.yaml, culture.yaml, or a folder of them [default: ~/.culture]
    #[arg(value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Where to write [default: that of --config, else $XDG_CONFIG_HOME/gangline/agents.yaml]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Print what would be written, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Move a configuration that is there aside, under a name with the time
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Write one JSON line to this file when everything is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
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
    /// Give up waiting after so many seconds (exit code 1; the hub goes on)
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "detach")]
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
          value_parser = clap::value_parser!(u64).range(1..=3600))]
    pub(crate) restart_delay_max: u64,
    /// Have this backend instead of the configured one; `gangline runtime list` names them.
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
    pub(crate) agents: Vec<AgentName>,
    /// All agents
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    /// The agent's nick
    pub(crate) agent: AgentName,
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
    /// Have this backend instead of the configured one; `gangline runtime list` names them.
    /// Kept over restarts of agent and hub. Without it an agent starts with the configured one
    #[arg(long, value_name = "NAME")]
    pub(crate) runtime: Option<String>,
    /// Do not wait until they are ready
    #[arg(long)]
    pub(crate) no_wait: bool,
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
    pub(crate) agents: Vec<AgentName>,
    /// All agents that are not stopped
    #[arg(long)]
    pub(crate) all: bool,
    /// The hub alone; it adopts the agents
    #[arg(long, conflicts_with_all = ["all", "when_idle", "no_wait"])]
    pub(crate) hub: bool,
    /// Wait with each until it has nothing to do
    #[arg(long)]
    pub(crate) when_idle: bool,
    /// Have this backend instead of the configured one; `gangline runtime list` names them.
    /// Kept over restarts of agent and hub; the configured one by its name goes back. Without it
    /// an agent keeps the backend that it has
    #[arg(long, value_name = "NAME", conflicts_with = "hub")]
    pub(crate) runtime: Option<String>,
    /// Do not wait until they are ready
    #[arg(long)]
    pub(crate) no_wait: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Ircd {
    /// Where to listen; loopback only. Port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:6667")]
    pub(crate) listen: SocketAddr,
    /// The server's and network's name
    #[arg(long, default_value = "spark")]
    pub(crate) name: String,
    /// Write one JSON line to this file when everything is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Logs {
    /// The agent's nick; all agents if absent
    pub(crate) agent: Option<AgentName>,
    /// How many events
    #[arg(short = 'n', long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) lines: u32,
    /// Go on with what happens, until Ctrl-C; as JSON, one event a line
    #[arg(short, long)]
    pub(crate) follow: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Attach {
    /// The agent's nick
    pub(crate) agent: AgentName,
    /// Of an agent in tmux: keys go to its program, too
    #[arg(long)]
    pub(crate) write: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Prompt {
    /// The agent's nick
    pub(crate) agent: AgentName,
    /// The text; `-` reads standard input
    pub(crate) text: String,
    /// Wait for the answer and print it
    #[arg(long)]
    pub(crate) wait: bool,
    /// Give up waiting after so many seconds (exit code 1; the message stays queued)
    #[arg(long, value_name = "SECONDS", default_value_t = 600, requires = "wait")]
    pub(crate) timeout: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Decide {
    /// The approval's number
    #[arg(value_parser = approval_number)]
    pub(crate) number: ApprovalNumber,
    /// A word for the agent
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
}

fn approval_number(text: &str) -> Result<ApprovalNumber, &'static str> {
    text.parse().map(ApprovalNumber).map_err(|_| "give the approval's number, such as 12")
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
pub(crate) enum SkillsCommand {
    /// Write it where a program looks for skills, or bring it up to date
    Install(SkillsInstall),
    /// Show where it is installed, and whether it is current
    #[command(alias = "status")]
    List,
}

#[derive(Debug, Args)]
pub(crate) struct SkillsInstall {
    /// For which program
    pub(crate) program: SkillProgram,
    /// A folder of skills instead of the program's usual one, such as a project's .claude/skills
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
    /// Remove it instead
    #[arg(long)]
    pub(crate) remove: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Replace or remove also what is not ours or was edited
    #[arg(long)]
    pub(crate) force: bool,
}

/// A program that reads skills.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SkillProgram {
    /// Claude Code: ~/.claude/skills
    Claude,
    /// Codex: ~/.codex/skills
    Codex,
    /// Copilot: ~/.copilot/skills
    Copilot,
    /// The place that many programs share: ~/.agents/skills
    Acp,
    /// opencode: ~/.config/opencode/skills
    Opencode,
    /// All of them
    All,
}

impl SkillProgram {
    /// Returns the word on the command line.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Acp => "acp",
            Self::Opencode => "opencode",
            Self::All => "all",
        }
    }
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
    /// Change what is usual
    #[command(subcommand)]
    Set(RuntimeSet),
    /// Look for the backends' programs; with --deep try each of them against a stand-in model
    ///
    /// --deep needs no network and no tokens. It drives every program through the rules that
    /// Gangline relies on, in a folder that is thrown away: about a minute for each. It exits with
    /// 1 if a rule is broken.
    Doctor(RuntimeDoctor),
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
pub(crate) struct RuntimeDoctor {
    /// Backends to look at [default: all]
    #[arg(value_name = "BACKEND")]
    pub(crate) backends: Vec<String>,
    /// Run the programs, not only look for them
    #[arg(long)]
    pub(crate) deep: bool,
    /// Tell what is tried and how long each rule takes
    #[arg(long, requires = "deep")]
    pub(crate) times: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StandinCommand {
    /// Serve the model wires; without a script it is the guide of the demo
    Serve(StandinServe),
}

#[derive(Debug, Args)]
pub(crate) struct StandinServe {
    /// Where to listen. Port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8668")]
    pub(crate) listen: SocketAddr,
    /// A YAML script of rules and replies
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Keep every request in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Hold this lock while serving, so that there is one
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) lock: Option<PathBuf>,
    /// When asked to end, wait until nobody holds this lock: an agent may still need its model
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) outlive: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HarnessCommand {
    /// Serve one model loop over HTTP: GET /events, POST /prompt, POST /cancel
    Serve(HarnessServe),
}

#[derive(Debug, Args)]
pub(crate) struct HarnessServe {
    /// Where to listen; loopback only. Port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8669")]
    pub(crate) listen: SocketAddr,
    /// The model, an id or haiku, sonnet, opus
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// Where the model is served
    #[arg(long, value_name = "URL", env = "ANTHROPIC_BASE_URL")]
    pub(crate) base_url: Option<String>,
    /// Text put before the conversation
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,
    /// Loop iterations before a prompt is ended
    #[arg(long, default_value_t = 10)]
    pub(crate) max_turns: u32,
    /// The folder its tools work in
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// The file that holds the bearer token; made if missing
    /// [default: harness.token in the state folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Let every tool run without asking: for sandboxes
    #[arg(long)]
    pub(crate) allow_all: bool,
    /// Write one JSON line to this file when everything is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Daemon {
    /// The agent's nick
    pub(crate) agent: AgentName,
    /// Where the IRC server is, if not as configured
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) irc: Option<String>,
    /// Have this backend instead of the configured one; `gangline runtime list` names them.
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
