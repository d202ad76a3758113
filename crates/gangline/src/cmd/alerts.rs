//! `gangline alerts`: lists what people were told and what became of it, and tests the targets.

use clap::Subcommand;
use gangline_alerts::{TargetTest, test_targets};
use gangline_api::alert::{Delivery, Test};
use gangline_core::{alert::DeliveryState, hook::WebhookEvent, name::AgentName, redact::Redacted};
use gangline_os::{
    clock::{self, rfc3339},
    terminal,
};
use gangline_store::DeliveryRow;

use crate::{
    caller,
    cli::{Global, number},
    configuration,
    configuration::Loaded,
    failure::Failure,
    names, output, place, show, store,
    who::Who,
};

/// List the last alerts and where they went, or test the targets
///
/// An alert that was not delivered says why. `gangline alerts test` posts a test to every webhook at
/// once and says what it answered; the alert channel on IRC is left alone.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Option<What>,
    /// List only this agent's alerts
    agent: Option<Who>,
    /// How many to list, the newest last
    #[arg(long, short = 'n', value_name = "N", default_value_t = 20,
          value_parser = number::within::<u32>(1, 500))]
    lines: u32,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Post a test to every webhook
    Test,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    let installation = place::existing(&global.place())?;
    if let Some(What::Test) = args.command {
        caller::refuse("test webhooks for the owner")?;
        let loaded = configuration::load(&installation.paths.config_file)?;
        return test(global, &loaded).await;
    }
    let store = store::existing(&installation.paths).await?;
    let agent = args.agent.map(|who| names::known_agent(&installation, &who)).transpose()?;
    let mut rows = store.alert_deliveries(agent.as_ref(), args.lines).await?;
    rows.reverse();
    let deliveries: Vec<Delivery> = rows.iter().map(wire).collect();
    match global.json {
        true => output::json(&deliveries)?,
        false => output::print(&show::alerts::deliveries(
            &deliveries,
            clock::system().now(),
            terminal::columns(),
        ))?,
    }
    Ok(0)
}

async fn test(global: &Global, loaded: &Loaded) -> Result<u8, Failure> {
    let plan = configuration::alerts::plan(loaded);
    if plan.targets.is_empty() && plan.broken.is_empty() {
        return Err(Failure::user("no webhook is configured")
            .hint("`webhooks: {url: https://…}` in the configuration names one"));
    }
    let now = clock::system();
    let row = trial(&loaded.config.server.name, now.now())?;
    let tests = test_targets(&plan, &row, &now).await;
    let broken = plan.broken.iter().map(|broken| TargetTest {
        target: broken.target.clone(),
        address: broken.address.clone(),
        trouble: Some(broken.to_string()),
    });
    let tests: Vec<Test> = tests.into_iter().chain(broken).map(told).collect();
    let failed = tests.iter().any(|test| !test.delivered);
    match global.json {
        true => output::json(&tests)?,
        false => output::print(&show::alerts::tests(&tests))?,
    }
    Ok(u8::from(failed))
}

/// Returns what is posted as a test; it is in no store.
fn trial(server: &str, now: clock::UnixMicros) -> Result<DeliveryRow, Failure> {
    let agent: AgentName = format!("{server}-gangline").parse().map_err(Failure::config)?;
    Ok(DeliveryRow {
        id: 0,
        alert: 0,
        agent,
        event: WebhookEvent::AgentComplete.into(),
        severity: WebhookEvent::AgentComplete.severity(),
        about: None,
        target: String::new(),
        text: Redacted::constant("[TEST] Gangline: this is a test of your webhook."),
        state: DeliveryState::Claimed,
        attempts: 1,
        next_at: None,
        claimed_by: None,
        trouble: None,
        made_at: now,
        ended_at: None,
    })
}

fn told(test: TargetTest) -> Test {
    let TargetTest { target, address, trouble } = test;
    Test { target, address, delivered: trouble.is_none(), trouble }
}

fn wire(row: &DeliveryRow) -> Delivery {
    Delivery {
        delivery: row.id,
        alert: row.alert,
        agent: row.agent.clone(),
        event: row.event.as_str().to_owned(),
        about: row.about.map(|(number, _)| number),
        target: row.target.clone(),
        text: row.text.to_string(),
        state: row.state.to_string(),
        attempts: row.attempts,
        trouble: row.trouble.as_ref().map(ToString::to_string),
        next_at: row.next_at.map(rfc3339),
        made_at: rfc3339(row.made_at),
        ended_at: row.ended_at.map(rfc3339),
    }
}
