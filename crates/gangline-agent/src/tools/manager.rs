//! The tools of a manager: it stops, starts, restarts and updates the other agents at its own
//! discretion, and reads what they did (R2-36, R2-38, R2-39). An order is the row that `gangline
//! stop` writes; the hub follows it.

use gangline_api::event::EventRecord;
use gangline_config::{Config, Role};
use gangline_core::{AgentName, act::ActKind};
use gangline_mcp::table::{LOG_LINES, LOG_LINES_MAX, Tool};
use gangline_os::{kill::Signal, proc};
use gangline_runtime::ToolCall;
use gangline_store::{Desired, NewAct, Order, RestartWhen, StoreError};
use jiff::tz::TimeZone;
use serde_json::json;

use super::{AgentTools, fields, questions::request};
use crate::{
    acts::already,
    fleet::{Fleet, News},
    log::{self, Depth},
    speech::Doing,
    speech::TurnContext,
};

/// An agent, and what is known of it.
struct Subject {
    agent: AgentName,
    is_me: bool,
    order: Option<Order>,
    runs: bool,
    /// The call that orders something.
    act: Option<NewAct>,
}

impl Subject {
    fn is_wanted(&self) -> bool {
        self.order.as_ref().is_none_or(Order::is_up)
    }

    fn told(&self, changed: bool, state: &str) -> String {
        json!({"agent": self.agent, "changed": changed, "state": state}).to_string()
    }
}

fn failed(error: &StoreError) -> String {
    format!("nothing was ordered: {error}")
}

impl AgentTools {
    pub(super) async fn manage(
        &self,
        tool: Tool,
        context: &TurnContext,
        call: &ToolCall,
    ) -> Result<String, String> {
        self.is_manager(&call.name)?;
        let fleet = self.fleet();
        let config = fleet.config()?;
        let argument = if tool == Tool::GetLogs { "agent" } else { "name" };
        let agent = fleet.meant(&config, fields::text(&call.input, argument)?)?;
        if tool == Tool::GetLogs {
            return self.get_logs(&agent, call).await;
        }
        let doing = Doing {
            kind: ActKind::Order,
            arguments: &[tool.name(), agent.as_str()],
            request: &request(Some(context), call),
            in_reply_to: None,
        };
        let act = self.speaker.act(Some(context), doing);
        let before =
            self.speaker.done_before(act.as_ref()).await.map_err(|error| failed(&error))?;
        let subject = Subject { act, ..self.subject(&fleet, agent).await? };
        if before.is_some() {
            return Ok(subject.told(false, &already("ordered")));
        }
        match tool {
            Tool::Kill => self.kill(&fleet, &subject, fields::flag(&call.input, "myself")?).await,
            Tool::Start => self.start(&fleet, &config, &subject).await,
            Tool::Restart => self.restart(&fleet, &config, &subject).await,
            Tool::Update => self.update(&fleet, &config, &subject).await,
            other => Err(format!("`{}` is not a tool of managers", other.name())),
        }
    }

    /// Refuses an agent that is no manager, whatever it was offered.
    pub(super) fn is_manager(&self, tool: &str) -> Result<(), String> {
        match self.about.role {
            Role::Manager => Ok(()),
            Role::Agent => Err(format!(
                "only a manager may use `{tool}`: an owner makes one with `role: manager` in the \
                 configuration"
            )),
        }
    }

    pub(super) fn fleet(&self) -> Fleet {
        Fleet {
            paths: self.speaker.paths.clone(),
            store: self.speaker.store.clone(),
            me: self.speaker.agent.clone(),
        }
    }

    async fn subject(&self, fleet: &Fleet, agent: AgentName) -> Result<Subject, String> {
        let orders = fleet.store.orders().await.map_err(|error| failed(&error))?;
        let order = orders.into_iter().find(|order| order.agent == agent);
        let runs = fleet.holder(&agent)?.is_some();
        Ok(Subject { is_me: agent == fleet.me, agent, order, runs, act: None })
    }

    async fn kill(&self, fleet: &Fleet, subject: &Subject, myself: bool) -> Result<String, String> {
        if subject.is_me && !myself {
            return Err(
                "that is yourself: nobody but a person could start you again. With `myself: \
                        true` you stop once this turn is over"
                    .to_owned(),
            );
        }
        if !subject.is_wanted() {
            let state = if subject.runs { "stopping" } else { "stopped" };
            return Ok(subject.told(false, state));
        }
        let by = fleet.me.as_str();
        let ordered =
            fleet.store.order_once(&subject.agent, Desired::Down, by, subject.act.clone()).await;
        ordered.map_err(|error| failed(&error))?;
        fleet.notify_hub();
        // Without a hub nobody but us can ask it.
        if let Some(holder) = fleet.holder(&subject.agent)?.filter(|_| !fleet.has_hub())
            && let Some((pid, start)) = holder.pid.zip(holder.start_time)
        {
            proc::signal_exact(pid, start, Signal::Term)
                .map_err(|error| format!("the order is stored, but nobody follows it: {error}"))?;
        }
        Ok(subject.told(true, if subject.runs { "stopping" } else { "stopped" }))
    }

    async fn start(
        &self,
        fleet: &Fleet,
        config: &Config,
        subject: &Subject,
    ) -> Result<String, String> {
        may_start(fleet, config, &subject.agent)?;
        if subject.is_wanted() && subject.runs {
            return Ok(subject.told(false, "running"));
        }
        let by = fleet.me.as_str();
        let ordered =
            fleet.store.order_once(&subject.agent, Desired::Up, by, subject.act.clone()).await;
        ordered.map_err(|error| failed(&error))?;
        fleet.notify_hub();
        Ok(subject.told(true, "starting"))
    }

    async fn restart(
        &self,
        fleet: &Fleet,
        config: &Config,
        subject: &Subject,
    ) -> Result<String, String> {
        may_start(fleet, config, &subject.agent)?;
        // A turn of its own would be cut off by its own order.
        let (when, state) = match subject.is_me {
            true => (RestartWhen::WhenIdle, "restarting once this turn is over"),
            false => (RestartWhen::Immediately, "restarting"),
        };
        let (by, act) = (fleet.me.as_str(), subject.act.clone());
        let ordered = fleet.store.order_restart_once(&subject.agent, when, by, act).await;
        ordered.map_err(|error| failed(&error))?;
        fleet.notify_hub();
        Ok(subject.told(true, if subject.runs { state } else { "starting" }))
    }

    async fn update(
        &self,
        fleet: &Fleet,
        config: &Config,
        subject: &Subject,
    ) -> Result<String, String> {
        if !subject.runs {
            let state = if subject.is_wanted() { "starting" } else { "stopped" };
            return Ok(subject.told(false, state));
        }
        let applied = fleet.applied().await.map_err(|error| failed(&error))?;
        let news = fleet.news(&subject.agent, (&config.marks(), &applied))?;
        let Some(news) = news else { return Ok(subject.told(false, "up to date")) };
        if self.restarts(subject).await? {
            return Ok(subject.told(false, "restarting"));
        }
        self.restart(fleet, config, subject).await?;
        Ok(subject.told(
            true,
            match news {
                News::Configuration => "restarting with the present configuration",
                News::Program => "restarting with the present program",
            },
        ))
    }

    /// Returns whether a restart of this daemon was ordered and is not done.
    async fn restarts(&self, subject: &Subject) -> Result<bool, String> {
        let row = self.speaker.store.agent(&subject.agent).await.map_err(|error| failed(&error))?;
        let ordered = subject.order.as_ref().and_then(|order| order.restart.as_ref());
        Ok(row.zip(ordered).is_some_and(|(row, restart)| row.epoch <= restart.ends))
    }

    async fn get_logs(&self, agent: &AgentName, call: &ToolCall) -> Result<String, String> {
        let lines = fields::number(&call.input, "lines", 1..=u64::MAX)?;
        let lines = lines.unwrap_or(u64::from(LOG_LINES)).min(u64::from(LOG_LINES_MAX));
        let limit = u32::try_from(lines).unwrap_or(LOG_LINES_MAX);
        let shown = |event: &_| log::is_shown(event, Depth::Work) && !log::is_private(event);
        let read = log::newest(&self.speaker.store, (Some(agent.clone()), limit), &shown).await;
        let (events, _) = read.map_err(|error| error.to_string())?;
        let events: Vec<EventRecord> = events.into_iter().map(log::for_agents).collect();
        let plain = |text: &str| text.to_owned();
        let mut told = log::lines(&events, Depth::Work, (&TimeZone::system(), &plain));
        // An event may have several lines.
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        told.drain(..told.len().saturating_sub(most));
        // The record is masked: nothing more of what ran is hidden than what is known here alone.
        let masked = |line: &String| self.speaker.redactor.sourced(line).into_string();
        let told: Vec<String> = told.iter().map(masked).collect();
        Ok(json!({"agent": agent, "lines": told}).to_string())
    }
}

/// Makes sure that the configuration lets an agent run, and that there is a hub to start it.
fn may_start(fleet: &Fleet, config: &Config, agent: &AgentName) -> Result<(), String> {
    let enabled = config.agents.iter().find(|it| it.nick == *agent).is_some_and(|it| it.enabled);
    if !enabled {
        return Err(format!(
            "{agent} is switched off in the configuration: remove its `enabled: false`, by \
             request_apply_commit"
        ));
    }
    if !fleet.has_hub() {
        return Err(format!(
            "no hub runs that could start {agent}: an owner runs `gangline up -d`"
        ));
    }
    Ok(())
}
