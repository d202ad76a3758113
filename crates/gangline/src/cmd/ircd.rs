//! `gangline ircd`: the IRC server alone, in the foreground.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use clap::builder::{PossibleValuesParser, TypedValueParser};
use gangline_api::ready::ReadyLine;
use gangline_config::Guests;
use gangline_hub::{
    credentials,
    ircd::{self, IrcdError, IrcdOptions, Tuning, opening::OpenError},
};
use gangline_os::{clock, fsio, paths::Paths, secret::Secret};
use tokio::sync::oneshot;

use crate::{caller, cli::Global, configuration::access, failure::Failure, invite, output, place};

#[cfg(test)]
mod tests;

/// Run the small IRC server alone, in the foreground
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The address to listen on; loopback only. Port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:6667")]
    pub(crate) listen: SocketAddr,
    /// The server's and network's name
    #[arg(long, default_value = "spark")]
    pub(crate) name: String,
    /// What other users of this machine may do without an account
    #[arg(long, value_name = "RULE", default_value = "no", value_parser = guests())]
    pub(crate) guests: Guests,
    /// Write one JSON line to this file when everything is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let paths = place::plain(&global.place())?;
    check_name(&args.name)?;
    let owner_file = credentials::owner_token_file(&paths);
    let owner = credentials::load_or_make_owner(&owner_file).map_err(Failure::environment)?;
    let options = IrcdOptions {
        listen: args.listen,
        name: args.name,
        state: paths.state.clone(),
        accounts: Vec::new(),
        clock: clock::system(),
    };
    let tuning = Tuning { access: access::of_a_lone_server(args.guests), ..Tuning::default() };
    let (stop, asked) = super::until_asked()?;
    let (bound, listening) = oneshot::channel::<SocketAddr>();
    let tell = async {
        match listening.await {
            Ok(address) => {
                tell(global, &paths, (&address.to_string(), &owner), args.ready_file.as_deref())
            }
            // It did not start: `serve` says why.
            Err(_) => Ok(()),
        }
    };
    let served = async { tokio::try_join!(serve((options, tuning), bound, stop), tell) };
    tokio::select! {
        served = served => served.map(|_| 0),
        () = asked => Ok(0),
    }
}

fn guests() -> impl TypedValueParser<Value = Guests> {
    let all = || Guests::ALL.iter().copied();
    PossibleValuesParser::new(all().map(Guests::as_str))
        .map(move |word| all().find(|guests| guests.as_str() == word).unwrap_or(Guests::No))
}

async fn serve(
    what: (IrcdOptions, Tuning),
    bound: oneshot::Sender<SocketAddr>,
    stop: gangline_os::CancellationToken,
) -> Result<(), Failure> {
    ircd::serve(what, bound, stop).await.map_err(explain)
}

fn explain(error: IrcdError) -> Failure {
    let for_good = error.is_for_good();
    let in_use = matches!(error, IrcdError::History(OpenError::Lock(_)));
    let failure = Failure::environment(error).doing("the IRC server cannot run");
    match (for_good, in_use) {
        (true, _) => failure.for_good(),
        (false, true) => failure
            .hint("a hub, or another `gangline ircd`, may have this state folder: see --state"),
        (false, false) => failure,
    }
}

fn check_name(name: &str) -> Result<(), Failure> {
    let legal = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if !name.is_empty() && name.len() <= 63 && name.chars().all(legal) {
        return Ok(());
    }
    Err(Failure::user("a server's name is 1 to 63 of A-Z, a-z, 0-9, -, _ and ."))
}

fn tell(
    global: &Global,
    paths: &Paths,
    (irc, owner): (&str, &Secret),
    ready_file: Option<&Path>,
) -> Result<(), Failure> {
    let ready = ReadyLine {
        pid: std::process::id(),
        irc: irc.to_owned(),
        http: None,
        token: caller::readable(owner),
        token_file: Some(credentials::owner_token_file(paths)),
        state: paths.state.clone(),
    };
    if global.json {
        output::json_line(&ready)?;
    } else {
        let invitation = invite::for_caller(irc, owner, Some("#general"));
        output::print(&listening(irc, &invitation))?;
    }
    write_ready(ready_file, &ready)
}

fn listening(irc: &str, invitation: &str) -> String {
    format!("The IRC server listens on {irc}.\n\n{invitation}\nCtrl-C ends it.\n")
}

/// Writes the ready line if a file for it was named.
pub(super) fn write_ready(file: Option<&Path>, ready: &ReadyLine) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    let line = serde_json::to_string(ready).map_err(Failure::environment)?;
    fsio::write_private(file, format!("{line}\n").as_bytes()).map_err(Failure::environment)
}
