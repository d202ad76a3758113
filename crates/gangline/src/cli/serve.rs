//! Servers alone: the chat server, the stand-in model, and one model loop over HTTP.

use std::{net::SocketAddr, path::PathBuf};

use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use gangline_config::Guests;

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
    #[arg(long, default_value_t = 10, value_parser = super::number::within::<u32>(0, super::number::ANY))]
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
pub(crate) struct Ircd {
    /// Where to listen; loopback only. Port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:6667")]
    pub(crate) listen: SocketAddr,
    /// The server's and network's name
    #[arg(long, default_value = "spark")]
    pub(crate) name: String,
    /// What people of another user of this machine may do without an account
    #[arg(long, value_name = "RULE", default_value = "no", value_parser = guests())]
    pub(crate) guests: Guests,
    /// Write one JSON line to this file when everything is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
}

fn guests() -> impl TypedValueParser<Value = Guests> {
    let all = || Guests::ALL.iter().copied();
    PossibleValuesParser::new(all().map(Guests::as_str))
        .map(move |word| all().find(|guests| guests.as_str() == word).unwrap_or(Guests::No))
}
