//! The tools by which a manager asks for another agent or another configuration (R2-35, R2-37). An
//! owner decides; the hub applies.

use gangline_config::{Config, MAX_CONFIG_BYTES, append, compare};
use gangline_core::{
    AgentName, ApprovalNumber, SendKey, Target, act::ActKind, forged, redact::Maskable, shown,
    split, trust::OWNER,
};
use gangline_mcp::table::Tool;
use gangline_os::git::{ObjectId, Repository};
use gangline_runtime::ToolCall;
use gangline_store::{ChangeKind, ChangeTold, LineKind, NewAct, NewChange, Send as StoreSend};
use serde_json::json;

use super::{
    AgentTools, fields,
    proposed::{INIT, Proposed, Sides, refused},
};
use crate::{acts::already, fleet::Fleet, speech::Doing, speech::TurnContext};

/// The most of a summary, in characters.
const SUMMARY_MAX: usize = 240;
/// The most of what it names first.
const SUMMARY_FIRST_MAX: usize = 140;

/// What is asked for, checked.
struct Asked {
    kind: ChangeKind,
    subject: AgentName,
    commit: Option<ObjectId>,
    entry: Option<Vec<String>>,
    summary: String,
    detail: Vec<String>,
}

/// The repository as it is checked out.
struct Here {
    repository: Repository,
    head: ObjectId,
    text: String,
    config: Config,
}

impl AgentTools {
    pub(super) async fn request(
        &self,
        tool: Tool,
        context: &TurnContext,
        call: &ToolCall,
    ) -> Result<String, String> {
        self.is_manager(&call.name)?;
        let fleet = self.fleet();
        let request = format!("{}/{}", context.turn, call.id);
        // Before anything is checked: it may have been applied since.
        let act = self.asking_for((tool, &request), context, call).await;
        let before = self.speaker.done_before(act.as_ref()).await;
        if let Some(before) = before.map_err(|error| format!("no request made: {error}"))? {
            return self.requested_already(ApprovalNumber(before.number)).await;
        }
        let here = self.here(&fleet).await?;
        let asked = match tool {
            Tool::RequestSpawn => spawn(&fleet, &here, call)?,
            _ => config(&fleet, &here, call).await?,
        };
        let reason = fields::maybe_text(&call.input, "reason")?.unwrap_or_default();
        let redact = |text: &str| self.speaker.redactor.redact(text);
        // What is allowed is shown whole: nothing is hidden but known values.
        let whole = |text: &str| self.speaker.redactor.decided(text, Maskable::Nothing).text;
        let new = NewChange {
            agent: fleet.me.clone(),
            turn: context.turn,
            request,
            kind: asked.kind,
            subject: asked.subject.clone(),
            commit: asked.commit.as_ref().map(|id| id.as_str().to_owned()),
            entry: asked.entry.as_ref().map(|lines| lines.join("\n")),
            summary: whole(&shown::cut(&asked.summary, SUMMARY_MAX)),
            detail: whole(&asked.detail.join("\n")),
            reason: redact(reason),
            message: context.messages.first().copied(),
            reply_target: self.home(Some(context)).await?,
        };
        let announce = self.announcing(context, &new).await;
        let requested = self.speaker.store.request_change_once(new, act, announce).await;
        let requested = requested.map_err(|error| format!("no request made: {error}"))?;
        self.speaker.committed.send_modify(|count| *count += 1);
        self.speaker.outbox.notify_one();
        let mut told =
            json!({"id": requested.number, "state": "requested", "agent": asked.subject});
        if let Some(commit) = asked.commit {
            told["commit"] = json!(commit.as_str());
        }
        if let Some(line) = asked.detail.iter().find(|line| line.starts_with("validated")) {
            told["validation"] = json!(line);
        }
        Ok(told.to_string())
    }

    /// Returns the act of a request; `None` if it cannot be told what is asked for. A commit counts by what
    /// its name stands for now.
    async fn asking_for(
        &self,
        (tool, request): (Tool, &str),
        context: &TurnContext,
        call: &ToolCall,
    ) -> Option<NewAct> {
        let field = |name: &str| fields::maybe_text(&call.input, name).ok().flatten();
        let subject = if tool == Tool::RequestSpawn { "name" } else { "agent" };
        let commit = match field("commit_ref") {
            Some(name) => {
                let repository = Repository::around(&self.fleet().paths.config_file).ok()?;
                repository.commit(name).await.ok()?.as_str().to_owned()
            }
            None => String::new(),
        };
        let rest =
            [field(subject), field("template"), field("reason")].map(Option::unwrap_or_default);
        let doing = Doing {
            kind: ActKind::Change,
            arguments: &[tool.name(), &commit, rest[0], rest[1], rest[2]],
            request,
            in_reply_to: None,
        };
        self.speaker.act(Some(context), doing)
    }

    /// Tells of a change that an earlier attempt has asked for.
    async fn requested_already(&self, number: ApprovalNumber) -> Result<String, String> {
        let row = self.speaker.store.change(number).await.map_err(|error| error.to_string())?;
        let row = row.ok_or_else(|| format!("change {number} is gone"))?;
        let note = already(&format!("asked for as change {number}"));
        let mut told = json!({
            "id": number,
            "state": row.state.as_str(),
            "agent": row.subject,
            "note": note,
        });
        if let Some(commit) = row.commit {
            told["commit"] = json!(commit);
        }
        Ok(told.to_string())
    }

    /// Returns the configuration as git has it; a change is made of that.
    async fn here(&self, fleet: &Fleet) -> Result<Here, String> {
        let repository =
            Repository::around(&fleet.paths.config_file).map_err(|error| refused(&error))?;
        let head = repository.head().await.map_err(|error| refused(&error))?;
        let unclean = repository.uncommitted().await.map_err(|error| refused(&error))?;
        if !unclean.is_empty() {
            return Err(format!(
                "no request made: {} has uncommitted changes: an owner commits or removes them \
                 first (`git status` in {})",
                unclean.join(", "),
                repository.root().display()
            ));
        }
        let text = text_at(&repository, &head).await?.ok_or_else(|| {
            format!("no request made: git does not keep the configuration: {INIT}")
        })?;
        let config = fleet.parsed(&text)?;
        Ok(Here { repository, head, text, config })
    }

    /// Returns what tells the people who may decide: where the turn's conversation is, and owners
    /// wherever they are.
    async fn announcing(
        &self,
        context: &TurnContext,
        new: &NewChange,
    ) -> impl FnOnce(ApprovalNumber) -> ChangeTold + Send + 'static {
        let home: Option<Target> = new.reply_target.parse().ok();
        let home = match home {
            Some(Target::Nick(nick)) if self.speaker.is_colleague(&nick).await => None,
            home => home.map(|home| home.to_string()),
        };
        let owner = self.about.own_server.then(|| OWNER.to_owned());
        let places: Vec<String> = home.into_iter().chain(owner).collect();
        let (speaker, turn, new) = (self.speaker.clone(), context.turn, new.clone());
        move |number| {
            let why = match new.reason.as_str() {
                "" => String::new(),
                why => format!(" ({})", shown::cut(&shown::label(why), SUMMARY_MAX)),
            };
            let text = format!(
                "approval {number}: {} asks for {}{why}. Say `@{} yes {number}` or `no {number} \
                 REASON`; `show {number}` in private, or `gangline approvals {number}`, shows all of \
                 it",
                new.agent, new.summary, new.agent
            );
            let send = |(at, target): (usize, String)| StoreSend {
                agent: new.agent.clone(),
                turn: Some(turn),
                idem_key: SendKey::of_call(Some(turn), &format!("change-{number}-{at}")),
                kind: if at == 0 && target != OWNER { LineKind::Privmsg } else { LineKind::Notice },
                target,
                lines: split::redacted_lines(&speaker.redactor.sourced(&text), |left| {
                    format!("… (+{left} lines)")
                })
                .lines
                .into_iter()
                .map(forged::continued)
                .collect(),
                in_reply_to: None,
                deliver: None,
            };
            ChangeTold { announce: places.into_iter().enumerate().map(send).collect() }
        }
    }
}

async fn text_at(repository: &Repository, id: &ObjectId) -> Result<Option<String>, String> {
    let text = repository.file_at(id, MAX_CONFIG_BYTES as u64).await;
    text.map_err(|error| refused(&error))
}

/// Checks the request for another agent.
fn spawn(fleet: &Fleet, here: &Here, call: &ToolCall) -> Result<Asked, String> {
    let nick = new_nick(&here.config, fields::text(&call.input, "name")?)?;
    let template = match fields::maybe_text(&call.input, "template")?.filter(|it| !it.is_empty()) {
        Some(name) => fleet.meant(&here.config, name)?,
        None => fleet.me.clone(),
    };
    let like = here.config.agent(&template).ok_or_else(|| {
        format!("no request made: {template} is not in the configuration as git has it")
    })?;
    let lines = append::entry(&nick, like);
    let text = append::with_agent(&here.text, &lines)
        .map_err(|error| format!("no request made: {}", crate::texts::whole(&error)))?;
    let after = fleet.parsed(&text)?;
    let mut detail = vec![format!("a copy of {template} without its role:")];
    detail.extend(lines.iter().map(|line| format!("  {line}")));
    detail.extend(told(&here.config, &after));
    let summary = format!("a new agent {nick}, like {template}");
    let (kind, entry) = (ChangeKind::Spawn, Some(lines));
    Ok(Asked { kind, subject: nick, commit: None, entry, summary, detail })
}

/// Returns the nick of a new agent: its name stands behind the server's.
fn new_nick(config: &Config, name: &str) -> Result<AgentName, String> {
    let (name, server) = (name.trim(), &config.server.name);
    let begins = format!("{server}-");
    let whole = if name.starts_with(&begins) { name.to_owned() } else { begins + name };
    let nick: AgentName = whole.parse().map_err(|error| format!("no request made: {error}"))?;
    match config.agent(&nick) {
        Some(there) => Err(format!("no request made: there is an agent {} already", there.nick)),
        None => Ok(nick),
    }
}

/// Checks the request for another configuration.
async fn config(fleet: &Fleet, here: &Here, call: &ToolCall) -> Result<Asked, String> {
    let repository = &here.repository;
    let commit = repository.commit(fields::text(&call.input, "commit_ref")?).await;
    let commit = commit.map_err(|error| refused(&error))?;
    if commit == here.head {
        return Err(format!(
            "no request made: {} is checked out already; `update` restarts an agent with it",
            commit.short()
        ));
    }
    let follows = repository.follows(&here.head, &commit).await;
    if !follows.map_err(|error| refused(&error))? {
        return Err(format!(
            "no request made: {} does not follow {}, which is checked out: rebase it on that \
             commit, then ask again",
            commit.short(),
            here.head.short()
        ));
    }
    let text = text_at(repository, &commit).await?;
    let text = text.ok_or("no request made: the commit has no configuration")?;
    let after = fleet.parsed(&text).map_err(|error| format!("no request made: {error}"))?;
    let name = fields::text(&call.input, "agent")?;
    // One that the commit adds is only in the new one.
    let subject = fleet
        .meant(&here.config, name)
        .or_else(|why| fleet.meant(&after, name).map_err(|_| format!("no request made: {why}")))?;
    let sides = Sides {
        repository,
        commits: (&here.head, &commit),
        configs: (&here.config, &after),
        config_file: &fleet.paths.config_file,
    };
    let proposed = sides.compared().await?;
    let summary = summary(&subject, &commit, (&here.config, &after), &proposed);
    let title = repository.subject(&commit).await.map_err(|error| refused(&error))?;
    let mut detail = vec![
        format!("commit {} ({})", commit.as_str(), shown::label(&title)),
        format!("files that change, all {}:", proposed.files.len()),
    ];
    detail.extend(proposed.files.iter().map(|line| format!("  {line}")));
    if !proposed.named.is_empty() {
        detail.push("files that the configuration names, so they are read or run:".to_owned());
        detail.extend(proposed.named.iter().map(|line| format!("  {line}")));
    }
    detail.extend(told(&here.config, &after));
    detail.push(format!("diff to {}, which is in use now:", here.head.short()));
    detail.extend(proposed.diff);
    let kind = ChangeKind::Config;
    Ok(Asked { kind, subject, commit: Some(commit), entry: None, summary, detail })
}

/// Returns in one line what differs: the settings, then the files that the configuration names.
fn summary(
    subject: &AgentName,
    commit: &ObjectId,
    (before, after): (&Config, &Config),
    proposed: &Proposed,
) -> String {
    let differ = compare::differences(before, after);
    let power = differ.iter().filter(|it| it.weight == compare::Weight::Power);
    let other = differ.iter().filter(|it| it.weight == compare::Weight::Other);
    let named = proposed.named.iter().map(String::as_str);
    let all: Vec<&str> = power
        .map(|it| it.text.as_str())
        .chain(named)
        .chain(other.map(|it| it.text.as_str()))
        .collect();
    let first = all.first().copied().unwrap_or("nothing that Gangline reads");
    let more = match all.len() {
        0 | 1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let files = match proposed.files.len() {
        1 => "1 file".to_owned(),
        count => format!("{count} files"),
    };
    let what = shown::cut(first, SUMMARY_FIRST_MAX);
    format!("another configuration of {subject}, {} ({files}): {what}{more}", commit.short())
}

/// Returns what differs, in words, and what was found of the new configuration.
fn told(before: &Config, after: &Config) -> Vec<String> {
    let differ = compare::differences(before, after);
    let of = |weight| differ.iter().filter(move |it| it.weight == weight);
    let mut lines = Vec::new();
    for (weight, title) in [
        (compare::Weight::Power, "accounts, tokens, hooks, roles, permissions, programs:"),
        (compare::Weight::Other, "else:"),
    ] {
        if of(weight).next().is_some() {
            lines.push(title.to_owned());
            lines.extend(of(weight).map(|it| format!("  {}", it.text)));
        }
    }
    lines.push(match after.warnings.len() {
        0 => "validated: no fault, no warning".to_owned(),
        count => format!("validated: no fault, {count} warnings:"),
    });
    lines.extend(after.warnings.iter().map(|warning| format!("  {warning}")));
    lines
}
