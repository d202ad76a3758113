//! `gangline whisper`: a person tells an agent something that nobody else sees (C9).

use clap::ValueEnum;
use gangline_core::{
    Redactor,
    whisper::{self, TEXT_MAX, WAITING_MAX, WhisperKind, WhisperSource},
};
use gangline_os::change_notice;
use gangline_store::{NewWhisper, StoreError};
use serde_json::json;

use super::prompt;
use crate::{
    caller::{self, Caller},
    cli::Global,
    failure::Failure,
    names, output, place, store,
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
    check(&said)?;
    let installation = place::existing(&global.place())?;
    let agent = names::agent(&installation, &args.agent)?;
    let paths = installation.paths;
    let store = store::for_message(&paths, &agent).await?;
    store::known(&store, &paths, &agent).await?;
    let new = NewWhisper {
        agent: agent.clone(),
        kind,
        source: WhisperSource::Operator,
        text: whisper::text(&Redactor::new([]), &said),
        by: Some(Caller::here().known_as().to_owned()),
        finding: None,
        turn: None,
    };
    let id = match store.whisper(new).await {
        Err(StoreError::Invalid(_)) => {
            return Err(Failure::user(format!(
                "not whispered: {WAITING_MAX} whispers wait for {agent} already"
            ))
            .hint("they are delivered with its next prompt: `gangline prompt` sends one"));
        }
        stored => stored?,
    };
    change_notice::notify(&paths.change_notice(agent.folded()));
    prompt::warn_if_down(&paths, &agent, "the whisper");
    match global.json {
        true => output::json(&json!({"id": id, "agent": agent, "whisper_type": kind}))?,
        false => output::print(&format!("whisper {id} for {agent} is stored\n"))?,
    }
    Ok(0)
}

/// Refuses what would be cut, or says nothing.
fn check(said: &str) -> Result<(), Failure> {
    match said.trim().len() {
        0 => Err(Failure::user("not whispered: the text is empty")),
        length if length > TEXT_MAX => {
            Err(Failure::user(format!("not whispered: the text is longer than {TEXT_MAX} bytes"))
                .hint("put it into a file, and let the text name that"))
        }
        _ => Ok(()),
    }
}
