//! P12: how soon a waiting `recv` returns. A turn of the native backend waits in the tool; somebody
//! mentions its agent; the model has the tool's result.

use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;

use super::Bench;
use super::bridge::Bridge;
use super::disk::Disk;
use super::fleet::{self, Fleet};
use super::model::{self, Model};
use super::place::Place;
use super::row::{Bound, Row, median};

/// Mentions that are measured in each round, and those before them that are not.
const MENTIONS: usize = 50;
const WARM_UP: usize = 10;
/// The server reads 8 lines a second of one person; so many persons take turns.
const PERSONS: usize = 5;
/// Before each of the things that are measured.
const PAUSE: Duration = Duration::from_millis(5);
/// So long the daemon may take from the model's call until the tool waits.
const CALLED: Duration = Duration::from_millis(60);
/// What is synced one after the other before the result may go out.
const COMMITS: [&str; 4] = [
    "irc.db: the line in the room's history",
    "gangline.db: the message accepted",
    "gangline.db: the message in the open turn",
    "the session's history: the tool's result",
];
/// What the goal allows beside the syncs: so many times the bridge, as for a mention.
const BRIDGES: f64 = 5.0;

/// Figures of one or more rounds, in microseconds.
#[derive(Default)]
struct Figures {
    recv: Vec<f64>,
    bridge: Vec<f64>,
    fsync: Vec<f64>,
}

/// P12.
pub(super) fn wakes(bench: &Bench) -> Result<Vec<Row>> {
    let mut figures = Figures::default();
    let mentions = bench.some(MENTIONS);
    bench.each_round(|| {
        let round = round(&bench.place, mentions)?;
        figures.recv.push(median(&round.recv));
        figures.bridge.push(median(&round.bridge));
        figures.fsync.push(median(&round.fsync));
        Ok(())
    })?;
    Ok(vec![row(figures)])
}

fn row(figures: Figures) -> Row {
    let commits = f64::from(u32::try_from(COMMITS.len()).unwrap_or(u32::MAX));
    let pairs = figures.bridge.iter().zip(&figures.fsync);
    let anchor = pairs.map(|(bridge, fsync)| BRIDGES * bridge + commits * fsync).collect();
    let (recv, bridge) = (median(&figures.recv), median(&figures.bridge));
    let fsync = median(&figures.fsync);
    Row {
        what: "mention to the result of a waiting recv at the model, p50 / 5 × a bare bridge + 4 × fsync".into(),
        unit: "µs",
        bound: Bound::AtMost(1.0),
        notes: vec![
            format!(
                "a bare bridge, line to child: {bridge:.0} µs (plain ratio {:.1}); 4 KiB appended and \
                 fdatasync: {fsync:.0} µs",
                recv / bridge
            ),
            format!("{} syncs, one after the other: {}", COMMITS.len(), COMMITS.join(" → ")),
            format!("all but the syncs: about {:.0} µs", (recv - commits * fsync).max(0.0)),
        ],
        subject: figures.recv,
        anchor,
    }
}

fn round(place: &Place, mentions: usize) -> Result<Figures> {
    let model = Model::receiving()?;
    let fleet = Fleet::start(place, 1, model.port)?;
    let mut bridge = Bridge::start(place)?;
    let mut disk = Disk::within(&place.folder()?)?;
    let join =
        |number| super::irc::Person::join(&fleet.irc, &format!("person{number}"), fleet::ROOM);
    let mut persons = (0..PERSONS).map(join).collect::<Result<Vec<_>>>()?;
    let (agent, mut figures) = (fleet::agent(1), Figures::default());
    let heard = format!("PRIVMSG {} :{}", fleet::ROOM, model::ANSWER);
    for number in 0..WARM_UP + mentions {
        if number == WARM_UP {
            figures = Figures::default();
        }
        sleep(PAUSE);
        figures.bridge.push(bridge.pass(&format!("@{agent} ping {number}"))?);
        sleep(PAUSE);
        figures.fsync.push(disk.append_and_sync()?);
        persons[number % PERSONS].say(fleet::ROOM, &format!("@{agent} wait {number}"))?;
        model.arrival()?;
        sleep(CALLED);
        let said =
            persons[(number + 1) % PERSONS].say(fleet::ROOM, &format!("@{agent} ping {number}"))?;
        let waited = model.arrival()?.saturating_duration_since(said);
        figures.recv.push(waited.as_secs_f64() * 1e6);
        for person in &mut persons {
            person.hear(&[&format!(":{agent}!"), &heard])?;
        }
        // The turn ends, and nothing is left of it.
        sleep(CALLED);
    }
    Ok(figures)
}
