//! `gangline attention`: what waits for a human, and answers to it.

use std::{io::IsTerminal as _, time::Duration};

use clap::Subcommand;
use gangline_api::attention::{AttentionChange, AttentionItem};
use gangline_core::{AgentName, FindingNumber, attention::Affects};
use gangline_os::{
    clock::{self, UnixMicros},
    terminal,
};
use gangline_store::{FindingFilter, LetterFilter, Store};

use super::{answer, until_asked};
use crate::{
    attention, caller, cli::Global, failure::Failure, names, output, place, show, store, who::Who,
};

/// How many findings `--all` lists.
const LISTED: u32 = 200;
/// How often `--watch` looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Empties the terminal and goes to its first line.
const CLEAR: &str = "\x1b[H\x1b[2J";

/// List what waits for a human, the most urgent first
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<What>,
    /// List only what is about this agent
    agent: Option<Who>,
    /// Also list findings that nobody has to decide, and the last ones that are resolved
    #[arg(long, conflicts_with = "watch")]
    all: bool,
    /// Keep looking until Ctrl-C: redraw the list in a terminal, else print each change as a line
    #[arg(long)]
    watch: bool,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Record that you have seen a finding; it stays in the list
    Seen {
        /// The finding's number
        #[arg(value_parser = answer::number)]
        number: i64,
    },
    /// Answer one of them, as `gangline answer` does
    Answer(answer::Args),
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    match args.command {
        Some(What::Answer(answer)) => return answer::run(global, answer).await,
        Some(What::Seen { number }) => return seen(global, FindingNumber(number)).await,
        None => {}
    }
    let installation = place::existing(&global.place())?;
    let store = store::existing(&installation.paths).await?;
    let agent = args.agent.map(|who| names::known_agent(&installation, &who)).transpose()?;
    if args.watch {
        return watch(global, &store, agent.as_ref()).await;
    }
    let now = clock::system().now();
    let mut items = items(&store, agent.as_ref(), now).await?;
    let filter = LetterFilter { agent: agent.clone(), unread: false, settled: false };
    let letters = store.letters(filter, LISTED).await?.len();
    if args.all {
        let filter = FindingFilter { agent, resolved: true };
        let rows = store.findings(filter, LISTED).await?;
        let others =
            rows.into_iter().filter(|row| items.iter().all(|item| item.number != row.number.0));
        let others: Vec<_> =
            others.map(|row| show::attention::wire(&row.into_item(Affects::default()))).collect();
        items.extend(others);
    }
    match global.json {
        true => output::json(&items)?,
        false => output::print(&format!(
            "{}{}",
            show::attention::list(&items, now, terminal::columns()),
            show::attention::letters(letters)
        ))?,
    }
    Ok(0)
}

async fn items(
    store: &Store,
    agent: Option<&AgentName>,
    now: UnixMicros,
) -> Result<Vec<AttentionItem>, Failure> {
    let mut items = store.attention(now).await?;
    items.retain(|item| agent.is_none_or(|agent| *agent == item.agent));
    Ok(items.iter().map(show::attention::wire).collect())
}

async fn seen(global: &Global, number: FindingNumber) -> Result<u8, Failure> {
    caller::refuse("look at the owner's attention list")?;
    let paths = place::of_existing(&global.place())?;
    let store = store::existing(&paths).await?;
    let row = match store.see_finding(number, &caller::name()).await {
        Ok(row) => row,
        Err(error) => {
            let items = items(&store, None, clock::system().now()).await?;
            return Err(match items.iter().find(|item| item.number == number.0) {
                Some(item) => only_findings(item),
                None => attention::not_found(error),
            });
        }
    };
    let item = show::attention::wire(&row.into_item(Affects::default()));
    match global.json {
        true => output::json(&item)?,
        false => output::print(&format!("finding {number} of {} is seen\n", item.agent))?,
    }
    Ok(0)
}

/// Returns why an item that is no finding cannot be marked.
fn only_findings(item: &AttentionItem) -> Failure {
    let (number, kind) = (item.number, &item.kind);
    Failure::user(format!("only a finding can be marked as seen, and {number} is of kind {kind}"))
        .hint(format!("`gangline answer {number} …` answers it"))
}

/// Shows the list until somebody ends it.
async fn watch(global: &Global, store: &Store, agent: Option<&AgentName>) -> Result<u8, Failure> {
    let (stop, asked) = until_asked()?;
    let redraws = std::io::stdout().is_terminal() && !global.json;
    let shown = async {
        let mut before: Option<Vec<AttentionItem>> = None;
        while !output::is_unread() {
            let now = clock::system().now();
            let after = items(store, agent, now).await?;
            if redraws {
                output::print(&format!(
                    "{CLEAR}{}",
                    show::attention::list(&after, now, terminal::columns())
                ))?;
            } else {
                changed(global, before.as_deref().unwrap_or_default(), &after)?;
            }
            before = Some(after);
            tokio::time::sleep(LOOK_EVERY).await;
        }
        Ok(0)
    };
    tokio::select! {
        done = shown => done,
        () = asked => Ok(0),
        () = stop.cancelled() => Ok(0),
    }
}

fn changed(
    global: &Global,
    before: &[AttentionItem],
    after: &[AttentionItem],
) -> Result<(), Failure> {
    for change in AttentionChange::between(before, after) {
        match global.json {
            true => output::json_line(&change)?,
            false => output::print(&show::attention::change(change.change.as_str(), &change.item))?,
        }
    }
    Ok(())
}
