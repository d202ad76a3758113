//! `gangline join`: the lines that let a person in, at any time.

use std::path::PathBuf;

use gangline_hub::credentials::{self, OWNER};
use serde::Serialize;

use crate::{
    caller, cli::Global, configuration, failure::Failure, fleet, invite, output, place, store,
};

/// What `join --json` prints; the password itself is in its file only.
#[derive(Serialize)]
struct Joining<'a> {
    host: &'a str,
    port: u16,
    tls: bool,
    /// Whether a hub takes connections there now.
    hub_runs: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    channel: Option<&'a str>,
    account: &'a str,
    mechanisms: [&'a str; 2],
    password_file: PathBuf,
}

/// Print how to connect to the chat: WeeChat, irssi, ii, any other client
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(super) async fn run(global: &Global, _: Args) -> Result<u8, Failure> {
    caller::refuse("read the owner's password")?;
    let paths = place::of_existing(&global.place())?;
    let hub = fleet::hub(&paths)?.and_then(|hub| hub.about);
    let loaded = match &hub {
        // It runs with what it read before, whatever is in the file now.
        Some(_) => configuration::quiet(&paths.config_file),
        None if !paths.config_file.exists() => return Err(store::nothing_here(&paths)),
        None => Some(configuration::load(&paths.config_file)?),
    };
    let elsewhere = loaded.as_ref().filter(|loaded| !loaded.config.network.embedded);
    if let Some(loaded) = elsewhere {
        let address = loaded.config.server.address();
        return Err(Failure::user(format!(
            "the agents are on {address}, which is not Gangline's server"
        ))
        .hint("connect to that network as usual"));
    }
    let address = match (&hub, &loaded) {
        (Some(about), _) => about.irc.clone(),
        (None, Some(loaded)) => loaded.embedded_address()?.to_string(),
        (None, None) => return Err(store::nothing_here(&paths)),
    };
    let channel = loaded.as_ref().and_then(|it| it.enabled().find_map(|it| it.channels.first()));
    let channel = channel.map(|channel| channel.as_str());
    let file = credentials::owner_token_file(&paths);
    let owner = credentials::load_or_make_owner(&file).map_err(Failure::environment)?;
    if global.json {
        let (host, port) = invite::place(&address);
        output::json(&Joining {
            host,
            port: port.parse().unwrap_or_default(),
            tls: false,
            hub_runs: hub.is_some(),
            channel,
            account: OWNER,
            mechanisms: ["SCRAM-SHA-256", "PLAIN"],
            password_file: file,
        })?;
        return Ok(0);
    }
    output::print(&invite::lines(&address, &owner, channel.or(Some("#general"))))?;
    if hub.is_none() {
        output::note("no hub runs: start it with `gangline up -d`, then connect like this");
    }
    Ok(0)
}
