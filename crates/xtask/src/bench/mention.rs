//! P4: the way of a mention from a person's IRC connection to the backend. For the native one it
//! ends with the first byte of the request to its model; for a foreign one when its program has read
//! the prompt and tells so by a byte.

use std::thread::sleep;
use std::time::Duration;

use anyhow::{Context, Result};

use super::backend::Backend;
use super::bridge::Bridge;
use super::disk::Disk;
use super::fleet::{self, Fleet};
use super::model::{self, Model};
use super::procfs;
use super::row::{Bound, Row, median};
use super::{Bench, place::Place};
use crate::shell;

/// Mentions that are measured in each round, and those before them that are not.
const MENTIONS: usize = 100;
const WARM_UP: usize = 20;
/// The server reads 8 lines a second of one person; so many persons take turns.
const PERSONS: usize = 5;
/// Before each of the three things that are measured, and the least time a turn takes in all, so
/// that nothing is left of the turn before.
const PAUSE: Duration = Duration::from_millis(5);
const TURN: Duration = Duration::from_millis(80);

/// What is synced to disk one after the other before the request may go out.
const COMMITS: [&str; 3] = [
    "irc.db: the line in the room's history",
    "gangline.db: the message accepted, and taken into a turn",
    "the session's history: the prompt",
];
/// Of them, those that a foreign backend waits for: its program keeps the history.
const COMMITS_FOREIGN: usize = 2;
/// What the goal allows: so many times the bridge, and so many syncs.
const BRIDGES: f64 = 5.0;
const SYNCS: f64 = 1.5;

/// Figures of one or more rounds, in microseconds; processor time in milliseconds a turn.
#[derive(Default)]
struct Figures {
    mention: Vec<f64>,
    bridge: Vec<f64>,
    fsync: Vec<f64>,
    hub: Vec<f64>,
    daemon: Vec<f64>,
}

/// P4.
pub(super) fn to_the_model(bench: &Bench) -> Result<Vec<Row>> {
    let mut all = Backend::ALL.map(|backend| (backend, Figures::default()));
    let mentions = bench.some(MENTIONS);
    bench.each_round(|| {
        for (backend, figures) in &mut all {
            let round = round(&bench.place, *backend, mentions)?;
            figures.mention.push(median(&round.mention));
            figures.bridge.push(median(&round.bridge));
            figures.fsync.push(median(&round.fsync));
            figures.hub.extend(round.hub);
            figures.daemon.extend(round.daemon);
        }
        Ok(())
    })?;
    Ok(all.into_iter().map(|(backend, figures)| row(backend, figures, mentions)).collect())
}

fn row(backend: Backend, figures: Figures, mentions: usize) -> Row {
    let (end, commits) = match backend {
        Backend::Native => ("the request at the model (native)".to_owned(), &COMMITS[..]),
        Backend::Claude | Backend::Codex | Backend::Acp => {
            (format!("the prompt at the program ({})", backend.name()), &COMMITS[..COMMITS_FOREIGN])
        }
    };
    let anchor = figures
        .bridge
        .iter()
        .zip(&figures.fsync)
        .map(|(bridge, fsync)| BRIDGES * bridge + SYNCS * fsync)
        .collect();
    Row {
        what: format!("mention to {end}, p50 / 5 × a bare bridge + 1.5 × fsync, p50").into(),
        unit: "µs",
        bound: Bound::AtMost(1.0),
        notes: notes(&figures, commits, mentions),
        subject: figures.mention,
        anchor,
    }
}

fn notes(figures: &Figures, syncs: &[&str], mentions: usize) -> Vec<String> {
    let (mention, bridge) = (median(&figures.mention), median(&figures.bridge));
    let fsync = median(&figures.fsync);
    let commits = f64::from(u32::try_from(syncs.len()).unwrap_or(u32::MAX));
    let allowed = BRIDGES * bridge + commits * fsync;
    vec![
        format!(
            "a bare bridge, line to child: {bridge:.0} µs (plain ratio {:.1}); 4 KiB appended and \
             fdatasync: {fsync:.0} µs",
            mention / bridge
        ),
        format!("{} syncs, one after the other: {}", syncs.len(), syncs.join(" → ")),
        format!(
            "against 5 × bridge + {} × fsync = {allowed:.0} µs: ratio {:.2}; all but the syncs: \
             about {:.0} µs",
            syncs.len(),
            mention / allowed,
            (mention - commits * fsync).max(0.0)
        ),
        format!(
            "processor time of a whole turn: hub {:.1} ms, daemon {:.1} ms; {mentions} mentions a round",
            median(&figures.hub),
            median(&figures.daemon)
        ),
    ]
}

fn round(place: &Place, backend: Backend, mentions: usize) -> Result<Figures> {
    let model = match backend {
        Backend::Native => Model::listen()?,
        Backend::Claude | Backend::Codex | Backend::Acp => Model::signal()?,
    };
    let fleet = Fleet::of(place, backend, model.port)?;
    let mut bridge = Bridge::start(place)?;
    let mut disk = Disk::within(&place.folder()?)?;
    let join =
        |number| super::irc::Person::join(&fleet.irc, &format!("person{number}"), fleet::ROOM);
    let mut persons = (0..PERSONS).map(join).collect::<Result<Vec<_>>>()?;
    let (agent, mut figures) = (fleet::agent(1), Figures::default());
    let heard = format!("PRIVMSG {} :{}", fleet::ROOM, model::ANSWER);
    let mut before = (0.0, 0.0);
    for number in 0..WARM_UP + mentions {
        if number == WARM_UP {
            figures = Figures::default();
            before = used(&fleet)?;
        }
        let begin = shell::now();
        sleep(PAUSE);
        figures.bridge.push(bridge.pass(&format!("@{agent} ping {number}"))?);
        sleep(PAUSE);
        figures.fsync.push(disk.append_and_sync()?);
        sleep(PAUSE);
        let person = &mut persons[number % PERSONS];
        let said = person.say(fleet::ROOM, &format!("@{agent} ping {number}"))?;
        figures.mention.push(micros(model.arrival()?.saturating_duration_since(said)));
        for person in &mut persons {
            person.hear(&[&format!(":{agent}!"), &heard])?;
        }
        sleep(TURN.saturating_sub(begin.elapsed()));
    }
    let after = used(&fleet)?;
    let turns = f64::from(u32::try_from(mentions).unwrap_or(u32::MAX));
    figures.hub.push((after.0 - before.0) / turns);
    figures.daemon.push((after.1 - before.1) / turns);
    Ok(figures)
}

/// Processor time of hub and daemon so far, in milliseconds.
fn used(fleet: &Fleet) -> Result<(f64, f64)> {
    let daemon = *fleet.daemons.first().context("no daemon")?;
    Ok((procfs::work_of(fleet.hub())?.cpu, procfs::work_of(daemon)?.cpu))
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}
