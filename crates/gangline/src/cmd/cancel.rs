//! `gangline cancel`: takes back a message that waits.

use gangline_core::{MessageId, Redactor, shown};
use gangline_hub::credentials::OWNER;
use gangline_os::change_notice;
use gangline_store::{Cancel, LineKind, MessageRow, Send, Store};
use serde_json::json;

use crate::{
    caller,
    cli::{Global, message::About},
    failure::Failure,
    output, place, store,
};

/// Cancel a waiting message
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    about: About,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let id = args.about.message;
    caller::refuse("cancel messages")?;
    let paths = place::of_existing(&global.place())?;
    let store = store::existing(&paths).await?;
    let row = store.message(id).await?;
    let found = store.cancel(id, OWNER).await?;
    let (Some(row), Cancel::Done) = (row, found) else { return Err(not_cancelled(id, found)) };
    let told = notify_author(&store, &row).await;
    // It is cancelled, whether or not its author can be told.
    change_notice::notify(&paths.change_notice(row.agent.folded()));
    told?;
    if global.json {
        output::json(&json!({ "message": id, "agent": row.agent, "state": "cancelled" }))?;
    } else {
        let sender = shown::label(&row.sender);
        output::print(&format!(
            "{id} of {sender} is cancelled: {} will not work on it\n",
            row.agent
        ))?;
    }
    Ok(0)
}

/// Tells it where it was asked, once.
async fn notify_author(store: &Store, row: &MessageRow) -> Result<(), Failure> {
    if row.target.is_empty() {
        return Ok(());
    }
    let text =
        format!("{}: the owner cancelled your message {}", shown::label(&row.sender), row.id);
    let send = Send {
        agent: row.agent.clone(),
        turn: None,
        idem_key: format!("c-{}-{:x}", row.id, row.accepted_at.0).into(),
        target: row.target.clone(),
        lines: vec![Redactor::new([]).redact(&text).into()],
        kind: LineKind::Notice,
        in_reply_to: Some(row.id),
        deliver: None,
    };
    store.send(send).await?;
    Ok(())
}

fn not_cancelled(id: MessageId, found: Cancel) -> Failure {
    match found {
        Cancel::InTurn(_) => {
            Failure::user(format!("{id} is in an open turn and cannot be cancelled"))
                .hint("`gangline interrupt` and the agent's nick ends the turn")
        }
        Cancel::Settled(state) => {
            Failure::user(format!("{id} cannot be cancelled: it {}", state.describe()))
                .hint(format!("`gangline trace {id}` shows what became of it"))
        }
        Cancel::Unknown | Cancel::Done => Failure::user(format!("there is no message {id}"))
            .hint("`@nick queue` in a room lists waiting messages; `gangline logs` lists all"),
    }
}
