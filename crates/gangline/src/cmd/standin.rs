//! `gangline standin serve`: the scripted model.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Subcommand;
use gangline_os::{
    CancellationToken, clock, fsio,
    lock::{self, FileLock},
    process,
};
use gangline_standin::{Script, StandinOptions, script::MAX_SCRIPT_BYTES};
use tokio::net::TcpListener;

use crate::{cli::Global, failure::Failure, output};

/// How often a lock that is to be outlived is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How often those who need the model are looked for.
const NEEDED_EVERY: Duration = Duration::from_secs(2);
/// It ends after this many looks at which nobody held a lock: a hub or a daemon that was killed is
/// started again sooner.
const UNNEEDED_LOOKS: u32 = 5;
/// How long a daemon may take to end, its kill policy included.
const OUTLIVE_MAX: Duration = Duration::from_secs(40);

/// Run the stand-in model: a scripted server, for demos and tests
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Standin,
}

#[derive(Debug, Subcommand)]
enum Standin {
    /// Serve the model APIs; without a script it plays the guide of the demo
    Serve(StandinServe),
}

#[derive(Debug, clap::Args)]
pub(crate) struct StandinServe {
    /// The address to listen on. Port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8668")]
    pub(crate) listen: SocketAddr,
    /// A YAML script of rules and replies
    #[arg(long, value_name = "FILE")]
    pub(crate) script: Option<PathBuf>,
    /// Store every request in this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
    /// Hold this lock while serving, so that there is one
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) lock: Option<PathBuf>,
    /// When asked to end, wait until nobody holds this lock: an agent may still need its model
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) outlive: Option<PathBuf>,
    /// End when nobody has held any of these locks for 10 s: whoever would ask to end is gone
    #[arg(long, value_name = "FILE", hide = true)]
    pub(crate) needed_by: Vec<PathBuf>,
}

pub(super) async fn run(_: &Global, args: Args) -> Result<u8, Failure> {
    match args.command {
        Standin::Serve(args) => serve(args).await,
    }
}

async fn serve(args: StandinServe) -> Result<u8, Failure> {
    let script = args.script.as_deref().map(read).transpose()?;
    let _lock = args.lock.as_deref().map(take).transpose()?;
    let listener = TcpListener::bind(args.listen).await.map_err(|error| {
        Failure::environment(error).doing(format!("cannot listen on {}", args.listen))
    })?;
    let address = listener.local_addr().map_err(Failure::environment)?;
    output::print(&format!("stand-in model on http://{address}: no model is behind it\n"))?;
    let (stop, asked) = until_asked(args.outlive)?;
    let options = StandinOptions { listener, script, record: args.record, clock: clock::system() };
    tokio::select! {
        served = gangline_standin::serve(options, stop) => served.map_err(Failure::environment)?,
        () = asked => {}
        () = unneeded(&args.needed_by) => {
            output::print("the stand-in model is no longer used: it stops\n")?;
        }
    }
    Ok(0)
}

/// Returns a token that is cancelled by a request to end, once nobody holds `outlive` any more; and
/// what waits for that, which ends itself by a second request.
fn until_asked(
    outlive: Option<PathBuf>,
) -> Result<(CancellationToken, impl Future<Output = ()>), Failure> {
    let (asked, waiting) = super::until_asked()?;
    let stop = CancellationToken::new();
    let (token, begin) = (stop.clone(), asked.clone());
    let then = async move {
        begin.cancelled().await;
        if let Some(lock) = outlive {
            free(&lock).await;
        }
        token.cancel();
        std::future::pending::<()>().await;
    };
    let both = async move {
        tokio::select! {
            () = waiting => {}
            () = then => {}
        }
    };
    Ok((stop, both))
}

/// Waits until nobody holds the lock, but not for ever.
async fn free(lock: &Path) {
    let held = async {
        while let Ok(Some(_)) = lock::probe(lock) {
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    if tokio::time::timeout(OUTLIVE_MAX, held).await.is_err() {
        tracing::warn!(lock = %lock.display(), "still held: ending anyway");
    }
}

/// Waits until nobody holds any of the locks; for ever without one. A lock that cannot be looked at
/// counts as held.
async fn unneeded(locks: &[PathBuf]) {
    let mut unneeded = 0;
    while unneeded < UNNEEDED_LOOKS || locks.is_empty() {
        tokio::time::sleep(NEEDED_EVERY).await;
        let free = locks.iter().all(|lock| matches!(lock::probe(lock), Ok(None)));
        unneeded = if free { unneeded + 1 } else { 0 };
    }
}

fn read(file: &Path) -> Result<Script, Failure> {
    let what = || format!("cannot use the script {}", file.display());
    let text = fsio::read_text_capped(file, MAX_SCRIPT_BYTES as u64)
        .map_err(|error| Failure::config(error).doing(what()))?;
    Script::parse(&text).map_err(|error| Failure::config(error).doing(what()))
}

/// Takes the lock that a hub knows us by, and leaves the hub's session: its Ctrl-C is not ours.
fn take(lock: &Path) -> Result<FileLock, Failure> {
    if let Err(error) = process::detach_session() {
        tracing::debug!(%error, "stays in its session");
    }
    FileLock::take(lock, "gangline standin")
        .map_err(|error| Failure::environment(error).doing("another stand-in runs there already"))
}
