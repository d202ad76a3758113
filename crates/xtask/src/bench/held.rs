//! P14: what it costs to hold agents. The subject is a fleet that is paused while messages wait for
//! it; the anchor is the same fleet before, with nothing to do.

use anyhow::{Context, Result, bail};

use super::Bench;
use super::fleet::{Fleet, agent};
use super::idle::{IDLE, SETTLE, work};
use super::model::Model;
use super::row::{Bound, Row, median};
use crate::shell;

/// The agents.
const AGENTS: usize = 10;
/// The messages that wait for each.
const WAITING: usize = 20;

/// P14.
pub(super) fn waiting(bench: &Bench) -> Result<Vec<Row>> {
    let (mut subject, mut anchor) = (Vec::new(), Vec::new());
    let model = Model::listen()?;
    bench.each_round(|| {
        let fleet = Fleet::start(&bench.place, AGENTS, model.port)?;
        anchor.push(cost(&fleet)?);
        for number in 1..=AGENTS {
            let nick = agent(number);
            shell::read(&mut fleet.command(&bench.place, &["pause", &nick]))?;
            for _ in 0..WAITING {
                let prompt = ["prompt", &nick, "say exactly hello"];
                shell::read(&mut fleet.command(&bench.place, &prompt))?;
            }
        }
        subject.push(cost(&fleet)?);
        if model.was_asked() {
            bail!("a held agent asked its model");
        }
        Ok(())
    })?;
    let notes = vec![format!(
        "{AGENTS} agents, {WAITING} messages wait for each; in {} s of holding them {:.2} ms of \
         processor time each; the model was not asked",
        IDLE.as_secs(),
        median(&subject)
    )];
    Ok(vec![Row {
        what: "processor time of held agents with messages / of idle ones".into(),
        unit: "ms",
        bound: Bound::AtMost(1.2),
        subject,
        anchor,
        notes,
    }])
}

/// Returns the processor time of an agent while nothing happens, in milliseconds.
fn cost(fleet: &Fleet) -> Result<f64> {
    std::thread::sleep(SETTLE);
    let before = work(&fleet.daemons)?.cpu;
    std::thread::sleep(IDLE);
    let after = work(&fleet.daemons).context("a daemon has ended")?.cpu;
    Ok((after - before) / AGENTS as f64)
}
