//! `gangline trust`: what an agent's folder brings along for its program, allowed or revoked by an owner.

use clap::Subcommand;
use gangline_agent::folder::{Folder, Look, NotAllowed, Standing};
use gangline_api::trust::{FolderFile, FolderTrust};
use gangline_core::{AgentName, shown};
use gangline_os::clock::rfc3339;
use gangline_runtime::folder::{Brought, Without, short};
use gangline_store::Store;

use crate::{
    caller, cli::Global, configuration, failure::Failure, folders, names, output, place, store,
    who::Who,
};

/// The most lines that are shown of one file.
const LINES_MAX: usize = 200;

/// Show, allow or revoke what an agent's folder brings along for its program
///
/// A repository can hold settings, hooks, MCP servers, plugins, skills and commands that the agent's
/// program would start or follow. Nothing of it is loaded before an owner has allowed exactly that
/// content. A later change is not loaded, and waits for another word.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show what lies there, whether it is loaded, and the command that allows it
    Show {
        /// The agent
        agent: Who,
    },
    /// Allow exactly the content that `show` has shown, from the next start of the agent on
    Allow {
        /// The agent
        agent: Who,
        /// The first digits of the content's hash, as `show` prints them
        #[arg(value_name = "HASH")]
        hash: Option<String>,
    },
    /// Take back what was allowed, from the next start of the agent's program on
    Revoke {
        /// The agent
        agent: Who,
    },
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let who = match &args.command {
        What::Show { agent } | What::Allow { agent, .. } | What::Revoke { agent } => agent,
    };
    match args.command {
        What::Show { .. } => {}
        What::Allow { .. } | What::Revoke { .. } => caller::refuse("decide what is trusted")?,
    }
    let installation = place::existing(&global.place())?;
    let agent = names::agent(&installation, who)?;
    let loaded = configuration::load(&installation.paths.config_file)?;
    let folder = folders::of(&installation.paths, &loaded, &agent)?;
    let store = store::existing(&installation.paths).await?;
    let look = folder.look(&store).await?;
    match args.command {
        What::Show { .. } => show(global, &folder, &look),
        What::Allow { hash, .. } => allow(global, (&store, &folder, &look), hash).await,
        What::Revoke { .. } => revoke(global, (&store, &folder, &look)).await,
    }?;
    Ok(0)
}

fn show(global: &Global, folder: &Folder, look: &Look) -> Result<(), Failure> {
    match global.json {
        true => output::json(&wire(folder, look)),
        false => output::print(&text(folder, look)),
    }
}

async fn allow(
    global: &Global,
    (store, folder, look): (&Store, &Folder, &Look),
    hash: Option<String>,
) -> Result<(), Failure> {
    let agent = &folder.agent;
    let Some(hash) = hash else {
        let failure = Failure::user("say what is allowed, by its hash");
        return Err(
            failure.hint(format!("`gangline trust show {agent}` shows it, and the command"))
        );
    };
    let allowed = folder.allow(store, look, (&hash, &caller::name())).await;
    let row = allowed.map_err(|error| refused(agent, error))?;
    store.resolve_finding(agent, "untrusted_folder").await?;
    if global.json {
        return output::json(&wire(folder, &folder.look(store).await?));
    }
    output::print(&format!(
        "{agent} may load {} of {} ({}); `gangline restart {agent}` starts it with that\n",
        short(&row.hash),
        folder.path.display(),
        row.what
    ))
}

async fn revoke(
    global: &Global,
    (store, folder, look): (&Store, &Folder, &Look),
) -> Result<(), Failure> {
    let agent = &folder.agent;
    if !folder.revoke(store, look, &caller::name()).await? {
        return Err(Failure::user(format!("nothing of the folder of {agent} was allowed"))
            .hint(format!("`gangline trust show {agent}` shows what lies there")));
    }
    if global.json {
        return output::json(&wire(folder, &folder.look(store).await?));
    }
    output::print(&format!(
        "{agent} loads nothing of {} from its program's next start on; `gangline restart {agent}` starts \
         it now\n",
        folder.path.display()
    ))
}

fn refused(agent: &AgentName, error: NotAllowed) -> Failure {
    let hint = format!("`gangline trust show {agent}` shows what lies there now");
    match error {
        NotAllowed::Nothing(_) => Failure::user(error.to_string()),
        NotAllowed::Other { .. } => Failure::user(error.to_string()).hint(hint),
        NotAllowed::Copy { .. } => Failure::environment(error).hint(hint),
        NotAllowed::Store(error) => error.into(),
    }
}

/// Returns all of it for people. What lies in a folder is foreign text.
fn text(folder: &Folder, look: &Look) -> String {
    let (agent, path) = (&folder.agent, folder.path.display());
    let hash = look.scan.hash();
    let state = match look.standing() {
        Standing::Nothing => {
            return format!("{agent}: {path} brings nothing along that its program would load\n");
        }
        Standing::LeftOut => "not loaded: nobody has allowed it".to_owned(),
        Standing::Allowed => "allowed".to_owned(),
        Standing::Changed => "not loaded: it is not what was allowed".to_owned(),
    };
    let mut lines = vec![format!("{agent}: {path}"), format!("content {}: {state}", short(&hash))];
    if let Some(row) = &look.row {
        let (word, by, at) = (row.word, shown::label(&row.by), rfc3339(row.at));
        lines.push(format!("{} was {word} by {by} at {at}: {}", short(&row.hash), row.what));
    }
    for file in &look.scan.brought {
        lines.extend(about(file));
    }
    lines.extend(look.scan.unread.iter().map(|it| format!("not read: {}", shown::label(it))));
    lines.push(String::new());
    if folder.brings.without == Without::NoSwitch && look.standing() != Standing::Allowed {
        lines.push("its program cannot leave this out, so it does not start here".to_owned());
    }
    match look.standing() {
        Standing::Allowed => {
            lines.push(format!("`gangline trust revoke {agent}` takes it back"));
        }
        Standing::Nothing | Standing::LeftOut | Standing::Changed => {
            if look.scan.unread.is_empty() {
                let command = format!("gangline trust allow {agent} {}", short(&hash));
                lines.push(format!("`{command}` allows exactly this"));
            } else {
                lines.push("it cannot be allowed: not all of it was read".to_owned());
            }
        }
    }
    lines.join("\n") + "\n"
}

/// Returns a file with its content: a skill and an agent can name tools and hooks too.
fn about(file: &Brought) -> Vec<String> {
    let size = file.bytes.len();
    let runs = if file.runs { ", a program" } else { "" };
    let mut lines =
        vec![format!("  {} ({}, {size} bytes{runs})", shown::label(&file.place()), file.kind)];
    let whole = file.text();
    let all = whole.map(|text| text.lines().collect::<Vec<_>>()).unwrap_or_default();
    lines.extend(all.iter().take(LINES_MAX).map(|line| format!("    {}", shown::label(line))));
    if all.len() > LINES_MAX {
        lines.push(format!("    ({} more lines)", all.len() - LINES_MAX));
    }
    lines
}

fn wire(folder: &Folder, look: &Look) -> FolderTrust {
    let standing = match look.standing() {
        Standing::Nothing => "nothing",
        Standing::LeftOut => "left_out",
        Standing::Allowed => "allowed",
        Standing::Changed => "changed",
    };
    FolderTrust {
        agent: folder.agent.clone(),
        folder: folder.path.display().to_string(),
        standing: standing.to_owned(),
        hash: look.scan.hash(),
        files: look.scan.brought.iter().map(file).collect(),
        unread: look.scan.unread.iter().map(|it| shown::label(it)).collect(),
        word: look.row.as_ref().map(|row| row.word.to_string()),
        word_hash: look.row.as_ref().map(|row| row.hash.clone()),
        said_by: look.row.as_ref().map(|row| shown::label(&row.by)),
        said_at: look.row.as_ref().map(|row| rfc3339(row.at)),
    }
}

fn file(file: &Brought) -> FolderFile {
    FolderFile {
        path: shown::label(&file.place()),
        kind: file.kind.to_string(),
        bytes: file.bytes.len() as u64,
    }
}
