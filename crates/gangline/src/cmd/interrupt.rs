//! `gangline interrupt`, also called `abort`: ends the turn that an agent is in, with its escalation, or
//! all that follows from one message.

use gangline_core::MessageId;
use gangline_os::change_notice;

use super::{
    pause,
    request::{messages, unknown},
};
use crate::{
    caller,
    cli::{Global, message},
    control::Word,
    failure::Failure,
    fleet::Chosen,
    output, place, store,
    who::Who,
};

/// End an agent's open turn and its escalation, or all turns that follow from one message
#[derive(Debug, clap::Args)]
#[command(visible_alias = "abort")]
pub(crate) struct Args {
    /// The agent's nick
    #[arg(value_name = "NICK", required_unless_present = "cause", conflicts_with = "cause")]
    pub(crate) agent: Option<Who>,
    /// End all turns, of all agents, of the request that this message belongs to; cancel its
    /// waiting and later messages
    #[arg(long, value_name = "MESSAGE", value_parser = message::id)]
    pub(crate) cause: Option<MessageId>,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    if let Some(message) = args.cause {
        return end(global, message).await;
    }
    let whom = Chosen::Named(args.agent.into_iter().collect());
    pause::tell(global, &whom, Word::Interrupt).await
}

/// Ends a cause in the store; each daemon that works on it looks when it is notified.
async fn end(global: &Global, message: MessageId) -> Result<u8, Failure> {
    caller::refuse("end what a message caused")?;
    let paths = place::of_existing(&global.place())?;
    let store = store::existing(&paths).await?;
    let by = caller::name();
    let Some(ended) = store.end_cause(message, &by).await? else {
        return Err(unknown(message, &paths));
    };
    for (agent, _) in &ended.turns {
        change_notice::notify(&paths.change_notice(agent.folded()));
    }
    let root = ended.root;
    if ended.turns.is_empty() && ended.cancelled == 0 {
        let before = if ended.again { "was ended before, and " } else { "" };
        return output::print(&format!(
            "{root}: {before}none of its turns runs and none of its messages waits; later \
             messages of it will be cancelled\n"
        ))
        .map(|()| 0);
    }
    let again = if ended.again { " was ended before" } else { " is ended" };
    let mut text = format!("{root}{again}: {} cancelled", messages(ended.cancelled));
    if !ended.turns.is_empty() {
        let names: Vec<&str> = ended.turns.iter().map(|(agent, _)| agent.as_str()).collect();
        text.push_str(&format!(", the turns of {} end", names.join(", ")));
    }
    output::print(&format!("{text}\n"))?;
    Ok(0)
}
