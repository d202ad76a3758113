//! What a start may load of what its folder brings along.

use std::path::Path;

use gangline_os::run_id::{RUN_ID, RunId};

use super::{Brings, Copied, From, Scan, Without, copy, scan, show};
use crate::{Purpose, StartOptions};

/// What may be loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Load {
    /// Nothing: the program's switch leaves it out.
    Nothing,
    /// What an owner has allowed, from Gangline's copy.
    Copy(Copied),
    /// What lies in the folder, which is what an owner has allowed.
    Folder,
}

/// A decision, and what the operator should know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What may be loaded.
    pub load: Load,
    /// Why what was allowed is not loaded, if so.
    pub notice: Option<String>,
    /// Something lies there that is not loaded.
    pub left_out: bool,
}

impl Decided {
    fn nothing() -> Self {
        Self { load: Load::Nothing, notice: None, left_out: false }
    }
}

/// Decides before each start. It reads the folder or the copy, and blocks its thread as long.
///
/// # Errors
/// Why the program cannot start here, with the command that allows it: it has no switch, and something
/// is brought along that nobody has allowed.
pub fn decide(options: &StartOptions, brings: &Brings) -> Result<Decided, String> {
    if brings.items.is_empty() {
        return Ok(Decided::nothing());
    }
    // Who judges a text has no use for any of it.
    let trusted = options.trusted.as_ref().filter(|_| options.purpose == Purpose::Work);
    if brings.from == From::Copy {
        let Some(trusted) = trusted else { return Ok(Decided::nothing()) };
        return Ok(match copy::open(trusted) {
            Ok(copied) => Decided { load: Load::Copy(copied), ..Decided::nothing() },
            Err(error) => Decided {
                notice: Some(format!(
                    "what the folder brings along is not loaded, although it was allowed: {error}"
                )),
                ..Decided::nothing()
            },
        });
    }
    let switch = brings.without != Without::NoSwitch;
    let found = scan(&options.workdir, home(options), brings);
    let same = trusted.is_some_and(|trusted| trusted.hash == found.hash());
    match (same || found.is_empty(), switch) {
        (true, _) if found.is_empty() => Ok(Decided::nothing()),
        (true, _) => Ok(Decided { load: Load::Folder, ..Decided::nothing() }),
        (false, true) => Ok(Decided {
            load: Load::Nothing,
            notice: trusted.map(|_| {
                let what = show::sum(&found);
                format!(
                    "what the folder brings along is not loaded: it is not what was allowed ({what})"
                )
            }),
            left_out: true,
        }),
        (false, false) => Err(refused(options, &found)),
    }
}

fn home(options: &StartOptions) -> Option<&Path> {
    let home = options.env.iter().rev().find(|(name, _)| name == "HOME");
    home.map(|(_, value)| Path::new(value))
}

fn refused(options: &StartOptions, found: &Scan) -> String {
    let run_id = options.env.iter().find(|(name, _)| name == RUN_ID);
    let run_id: Option<RunId> = run_id.and_then(|(_, value)| value.parse().ok());
    let nick = run_id.as_ref().map_or("NICK", |run_id| run_id.nick());
    format!(
        "it cannot be kept from loading what {} brings along: {}. `gangline trust show {nick}` shows it, \
         `gangline trust allow {nick} {}` allows exactly this",
        options.workdir.display(),
        show::sum(found),
        super::short(&found.hash())
    )
}
