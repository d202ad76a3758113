//! The commands, one file each. Start at [`run`].

mod approvals;
mod attach;
mod cancel;
mod care;
mod choice;
mod completions;
mod config;
mod daemon;
mod decide;
mod demo;
mod doctor;
mod down;
mod harness;
mod import;
mod init;
mod interrupt;
mod ircd;
mod join;
mod logs;
mod model;
mod pause;
mod policy;
mod prompt;
mod ps;
mod release;
mod restart;
mod resume;
mod runtime;
mod service;
mod sessions;
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
        Cli, Command, ConfigCommand, ServiceCommand,
        serve::{HarnessCommand, StandinCommand},
        skills::SkillsCommand,
    },
    control::Word,
    failure::Failure,
    mcp,
    show::fleet::Columns,
};

/// Runs the command; returns its exit code. Each is boxed: in one value that could be any of them,
/// the smallest would take the room of the largest.
pub(crate) async fn run(cli: Cli) -> Result<u8, Failure> {
    let global = cli.global;
    match cli.command {
        Command::Init(args) => Box::pin(init::run(&global, args)).await,
        Command::Import(args) => import::run(&global, &args),
        Command::Demo(args) => Box::pin(demo::run(&global, args)).await,
        Command::Up(args) => Box::pin(up::run(&global, args)).await,
        Command::Down(args) => Box::pin(down::run(&global, args)).await,
        Command::Start(args) => Box::pin(start::run(&global, args)).await,
        Command::Stop(args) => Box::pin(stop::run(&global, args)).await,
        Command::Restart(args) => Box::pin(restart::run(&global, args)).await,
        Command::Ircd(args) => Box::pin(ircd::run(&global, args)).await,
        Command::Join => join::run(&global),
        Command::Ps { wide } => {
            let columns = if wide { Columns::Wide } else { Columns::Usual };
            Box::pin(ps::run(&global, columns)).await
        }
        Command::Status { agent } => Box::pin(status::run(&global, agent)).await,
        Command::Logs(args) => Box::pin(logs::run(&global, args)).await,
        Command::Attach(args) => attach::run(&global, &args),
        Command::Channel(args) => channel::run(global, args),
        Command::Mcp(args) => mcp::run(global, &args).map(|()| 0),
        Command::Prompt(args) => Box::pin(prompt::run(&global, args)).await,
        Command::Cancel(about) => Box::pin(cancel::run(&global, about.message)).await,
        Command::Trace(about) => Box::pin(trace::run(&global, about.message)).await,
        Command::Model(args) => Box::pin(model::run(&global, args)).await,
        Command::Sessions(args) => Box::pin(sessions::run(&global, args)).await,
        Command::Compact { agent } => Box::pin(care::run(&global, agent, Word::Compact)).await,
        Command::Clear { agent } => Box::pin(care::run(&global, agent, Word::Clear)).await,
        Command::Pause(whom) => Box::pin(pause::run(&global, whom)).await,
        Command::Resume(whom) => Box::pin(resume::run(&global, whom)).await,
        Command::Interrupt(args) => Box::pin(interrupt::run(&global, args)).await,
        Command::Release { message } => Box::pin(release::run(&global, message)).await,
        Command::Approvals(args) => Box::pin(approvals::run(&global, &args)).await,
        Command::Approve(args) if args.always => {
            Box::pin(decide::always(&global, args.decide)).await
        }
        Command::Approve(args) => {
            Box::pin(decide::run(&global, args.decide, Decision::Allow)).await
        }
        Command::Policy(command) => Box::pin(policy::run(&global, command)).await,
        Command::Deny(args) => Box::pin(decide::run(&global, args, Decision::Deny)).await,
        Command::Config(ConfigCommand::Check { file }) => config::check(&global, file),
        Command::Config(ConfigCommand::Schema) => config::schema(),
        Command::Doctor(args) => Box::pin(doctor::run(&global, &args)).await,
        Command::Runtime(command) => Box::pin(runtime::run(&global, command)).await,
        Command::Service(ServiceCommand::Install(args)) => service::install(&global, args),
        Command::Skills(SkillsCommand::Install(args)) => skills::install(&args),
        Command::Skills(SkillsCommand::List) => skills::list(&global),
        Command::Standin(StandinCommand::Serve(args)) => Box::pin(standin::serve(args)).await,
        Command::Harness(HarnessCommand::Serve(args)) => {
            Box::pin(harness::serve(&global, args)).await
        }
        Command::Completions { shell } => completions::completions(shell),
        Command::Man { dir } => completions::man(&dir),
        Command::Daemon(args) => Box::pin(daemon::run(&global, args)).await,
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
