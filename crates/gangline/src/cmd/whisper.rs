//! `gangline whisper`: a person tells an agent something that nobody else sees (C9).

use clap::ValueEnum;
use gangline_core::whisper::WhisperKind;
use gangline_os::change_notice;
use serde_json::json;

use super::prompt;
use crate::{
    caller::{self, Caller},
    cli::Global,
    failure::Failure,
    names, output, owner, place, store,
    who::Who,
};

/// Tell an agent something that nobody else sees; it starts no turn
#[derive(Debug, clap::Args)]
#[command(
    after_help = "The agent reads it in its running turn as soon as its backend can show it, and at \
    the latest before its next prompt. No room ever sees it. `gangline logs` shows when and how it \
    was delivered."
)]
pub(crate) struct Args {
    /// The agent's nick
    agent: Who,
    /// The text, quoted or not
    #[arg(required = true)]
    text: Vec<String>,
    /// What the whisper asks for
    #[arg(long = "type", value_enum, default_value_t = Kind::Correction)]
    kind: Kind,
}

/// What a person may ask for.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// To do something differently
    Correction,
    /// To think more before it continues
    ThinkDeeper,
}

impl From<Kind> for WhisperKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Correction => Self::Correction,
            Kind::ThinkDeeper => Self::ThinkDeeper,
        }
    }
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    caller::refuse("whisper in the owner's name")?;
    let (said, kind) = (args.text.join(" "), WhisperKind::from(args.kind));
    owner::check_whisper(&said)?;
    let installation = place::existing(&global.place())?;
    let agent = names::agent(&installation, &args.agent)?;
    let paths = installation.paths;
    let store = store::for_message(&paths, &agent).await?;
    store::known(&store, &paths, &agent).await?;
    let new = owner::whisper(&agent, (kind, &said), Caller::here().known_as())?;
    let stored = store.whisper(new).await;
    let id = stored.map_err(|error| owner::whisper_refused(&agent, error))?;
    change_notice::notify(&paths.change_notice(agent.folded()));
    prompt::warn_if_down(&paths, &agent, "the whisper");
    match global.json {
        true => output::json(&json!({"id": id, "agent": agent, "whisper_type": kind}))?,
        false => output::print(&format!("whisper {id} for {agent} is stored\n"))?,
    }
    Ok(0)
}
