//! `gangline ask`: a person asks an agent a question, with options to choose from.

use gangline_core::question::{Choose, draft::check_text};

use super::prompt;
use crate::{
    caller::Caller,
    cli::{Global, number},
    failure::Failure,
    owner,
    who::Who,
};

/// Ask an agent a question, with options to choose from
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Prints the message's number; the agent answers as it answers a prompt, and \
    `gangline trace mN` shows the answer. An agent asks by its tool `ask`, or by `gangline channel ask`."
)]
pub(crate) struct Args {
    /// The agent's nick
    agent: Who,
    /// The question, quoted or not
    #[arg(required = true)]
    text: Vec<String>,
    /// An option to choose; give it again for each one, at most 20
    #[arg(long = "option", value_name = "TEXT", allow_hyphen_values = true)]
    options: Vec<String>,
    /// Several options may be chosen
    #[arg(long)]
    multi: bool,
    /// Wait so many seconds for the answer and print it (exit code 1 without one; it stays queued)
    #[arg(long, value_name = "SECONDS", value_parser = number::within::<u64>(0, number::ANY))]
    wait: Option<u64>,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    refuse_agents(&Caller::here())?;
    let question = args.text.join(" ");
    let choose = if args.multi { Choose::Several } else { Choose::One };
    check_text(&question, (&args.options, choose))
        .map_err(|error| Failure::user(format!("not asked: {error}")))?;
    let text = owner::asking(&question, &args.options, choose);
    prompt::send(global, (&args.agent, &text), args.wait).await
}

fn refuse_agents(caller: &Caller) -> Result<(), Failure> {
    match caller {
        Caller::Person { .. } => Ok(()),
        Caller::Agent { .. } => Err(Failure::user("an agent cannot ask in the owner's name").hint(
            "ask the people in a channel by `gangline channel ask CHANNEL TEXT`, anybody else by \
                 the tool `ask`",
        )),
    }
}
