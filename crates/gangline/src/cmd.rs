//! The commands, one file each. Start at [`run`].

mod approvals;
mod attach;
mod care;
mod choice;
mod config;
mod daemon;
mod decide;
mod demo;
mod down;
mod harness;
mod import;
mod init;
mod interrupt;
mod ircd;
mod logs;
mod model;
mod pause;
mod prompt;
mod ps;
mod restart;
mod resume;
mod runtime;
mod service;
mod skills;
mod standin;
mod start;
mod status;
mod stop;
mod trace;
mod up;

use gangline_api::approval::Decision;
use gangline_os::{CancellationToken, signals::Signals};

use crate::{
    channel,
    cli::{
        Cli, Command, ConfigCommand, HarnessCommand, ServiceCommand, SkillsCommand, StandinCommand,
    },
    control::Word,
    failure::Failure,
    mcp,
};

/// Runs the command; returns its exit code.
pub(crate) async fn run(cli: Cli) -> Result<u8, Failure> {
    let global = cli.global;
    match cli.command {
        Command::Init(args) => init::run(&global, args).await,
        Command::Import(args) => import::run(&global, &args),
        Command::Demo(args) => demo::run(&global, args).await,
        Command::Up(args) => up::run(&global, args).await,
        Command::Down(args) => down::run(&global, args).await,
        Command::Start(args) => start::run(&global, args).await,
        Command::Stop(args) => stop::run(&global, args).await,
        Command::Restart(args) => restart::run(&global, args).await,
        Command::Ircd(args) => ircd::run(&global, args).await,
        Command::Ps => ps::run(&global).await,
        Command::Status { agent } => status::run(&global, agent).await,
        Command::Logs(args) => logs::run(&global, args).await,
        Command::Attach(args) => attach::run(&global, &args),
        Command::Channel(args) => channel::run(global, args),
        Command::Mcp(args) => mcp::run(&args.connect).map(|()| 0),
        Command::Prompt(args) => prompt::run(&global, args).await,
        Command::Trace { message } => trace::run(&global, message).await,
        Command::Model(args) => model::run(&global, args).await,
        Command::Compact { agent } => care::run(&global, agent, Word::Compact).await,
        Command::Clear { agent } => care::run(&global, agent, Word::Clear).await,
        Command::Pause(whom) => pause::run(&global, whom).await,
        Command::Resume(whom) => resume::run(&global, whom).await,
        Command::Interrupt { agent } => interrupt::run(&global, agent).await,
        Command::Approvals { all } => approvals::run(&global, all).await,
        Command::Approve(args) => decide::run(&global, args, Decision::Allow).await,
        Command::Deny(args) => decide::run(&global, args, Decision::Deny).await,
        Command::Config(ConfigCommand::Check { file }) => config::check(&global, file),
        Command::Config(ConfigCommand::Schema) => config::schema(),
        Command::Runtime(command) => runtime::run(&global, command).await,
        Command::Service(ServiceCommand::Install(args)) => service::install(&global, args),
        Command::Skills(SkillsCommand::Install(args)) => skills::install(&args),
        Command::Skills(SkillsCommand::List) => skills::list(),
        Command::Standin(StandinCommand::Serve(args)) => standin::serve(args).await,
        Command::Harness(HarnessCommand::Serve(args)) => harness::serve(&global, args).await,
        Command::Daemon(args) => daemon::run(&global, args).await,
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
