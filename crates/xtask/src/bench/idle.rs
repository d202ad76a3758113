//! P1 and P9: what it costs to do nothing. The subject is `gangline up` with agents that nobody
//! speaks to; the anchor the example `bare_tokio`, which holds the same descriptors and no product.

use std::net::TcpListener;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Bench;
use super::bare::Bare;
use super::fleet::Fleet;
use super::model;
use super::place::{Place, Program};
use super::procfs::{self, Memory, Parts, Work};
use super::row::{Bound, Row, median};

/// From the last daemon's start to the measurement, so that nothing of the start is measured.
pub(super) const SETTLE: Duration = Duration::from_secs(5);
/// How long nothing is done, for P9's processor time: the daemons' tick comes every 30 s, and in a
/// shorter time it would be missed, as if doing nothing cost nothing.
pub(super) const IDLE: Duration = Duration::from_secs(30);
/// The agents of P9.
const MANY: usize = 50;

/// P1.
pub(super) fn one_daemon(bench: &Bench) -> Result<Vec<Row>> {
    let (mut subject, mut anchor) = (Vec::new(), Vec::new());
    let (mut anonymous, mut bare_anonymous) = (Vec::new(), Vec::new());
    let mut parts = Parts::default();
    bench.each_round(|| {
        let fleet = Fleet::start(&bench.place, 1, model::nobody()?)?;
        std::thread::sleep(SETTLE);
        let memory = sum(&fleet.daemons)?;
        parts = procfs::parts_of(*fleet.daemons.first().context("no daemon")?)?;
        drop(fleet);
        subject.push(memory.pss);
        anonymous.push(memory.anonymous);
        let bare = anchors(&bench.place, 1)?;
        anchor.push(bare.pss);
        bare_anonymous.push(bare.anonymous);
        Ok(())
    })?;
    let notes = vec![
        format!(
            "of it in no file (heap, stacks, relocated pages): {:.0} KiB; of the bare one: {:.0} \
             KiB; the rest is code",
            median(&anonymous),
            median(&bare_anonymous)
        ),
        format!(
            "its parts in the last round: code and constants {:.0} KiB, relocated tables and \
             variables {:.0}, heap and stacks {:.0}, libraries {:.0}, other files {:.0}",
            parts.code, parts.relocated, parts.heap, parts.libraries, parts.other
        ),
        "the hub runs the same program: of code that both use, the daemon is charged one half"
            .to_owned(),
    ];
    Ok(vec![Row {
        what: "memory (PSS) of an idle daemon / of a bare tokio program".into(),
        unit: "KiB",
        bound: Bound::AtMost(10.0),
        subject,
        anchor,
        notes,
    }])
}

/// One round of P9's subject.
struct Crowd {
    daemons: Memory,
    hub: Memory,
    daemons_work: Work,
    hub_work: Work,
}

/// P9.
pub(super) fn fifty_daemons(bench: &Bench) -> Result<Vec<Row>> {
    let (mut crowds, mut bare) = (Vec::new(), Vec::new());
    bench.each_round(|| {
        crowds.push(crowd(&bench.place)?);
        bare.push(anchors(&bench.place, MANY)?);
        Ok(())
    })?;
    let middle = |figure: fn(&Crowd) -> f64| -> f64 {
        median(&crowds.iter().map(figure).collect::<Vec<_>>())
    };
    let bare_anonymous: Vec<f64> = bare.iter().map(|memory| memory.anonymous).collect();
    let (many, seconds) = (50.0, IDLE.as_secs_f64());
    let notes = vec![
        format!(
            "a daemon: {:.0} KiB, of it in no file {:.0} KiB; a bare one: in no file {:.0} KiB; \
             the hub: {:.0} KiB",
            middle(|crowd| crowd.daemons.pss) / many,
            middle(|crowd| crowd.daemons.anonymous) / many,
            median(&bare_anonymous) / many,
            middle(|crowd| crowd.hub.pss)
        ),
        format!(
            "idle for {seconds:.0} s, so with one tick of each: 10 s cost {MANY} daemons {:.1} ms of \
             processor time ({:.2} wake-ups of threads a second each), the hub {:.1} ms ({:.1} a \
             second)",
            middle(|crowd| crowd.daemons_work.cpu) * 10.0 / seconds,
            middle(|crowd| crowd.daemons_work.sleeps) / many / seconds,
            middle(|crowd| crowd.hub_work.cpu) * 10.0 / seconds,
            middle(|crowd| crowd.hub_work.sleeps) / seconds
        ),
    ];
    Ok(vec![Row {
        what: "memory (PSS) of 50 idle daemons and their hub / of 50 bare tokio programs".into(),
        unit: "KiB",
        bound: Bound::AtMost(4.0),
        subject: crowds.iter().map(|crowd| crowd.daemons.pss + crowd.hub.pss).collect(),
        anchor: bare.iter().map(|memory| memory.pss).collect(),
        notes,
    }])
}

fn crowd(place: &Place) -> Result<Crowd> {
    let fleet = Fleet::start(place, MANY, model::nobody()?)?;
    std::thread::sleep(SETTLE);
    let (daemons_before, hub_before) = (work(&fleet.daemons)?, work(&[fleet.hub()])?);
    std::thread::sleep(IDLE);
    let (daemons_after, hub_after) = (work(&fleet.daemons)?, work(&[fleet.hub()])?);
    let since =
        |a: Work, b: Work| Work { cpu: b.cpu - a.cpu, sleeps: (b.sleeps - a.sleeps).max(0.0) };
    Ok(Crowd {
        daemons: sum(&fleet.daemons)?,
        hub: sum(&[fleet.hub()])?,
        daemons_work: since(daemons_before, daemons_after),
        hub_work: since(hub_before, hub_after),
    })
}

fn sum(pids: &[u32]) -> Result<Memory> {
    let mut all = Memory::default();
    for pid in pids {
        let one = procfs::memory_of(*pid)?;
        all.pss += one.pss;
        all.anonymous += one.anonymous;
    }
    Ok(all)
}

pub(super) fn work(pids: &[u32]) -> Result<Work> {
    let mut all = Work::default();
    for pid in pids {
        let one = procfs::work_of(*pid)?;
        all.cpu += one.cpu;
        all.sleeps += one.sleeps;
    }
    Ok(all)
}

/// Starts that many bare programs, each connected to a listener here, and sums their memory.
fn anchors(place: &Place, count: usize) -> Result<Memory> {
    let folder = place.folder()?;
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen")?;
    let address = listener.local_addr().context("cannot tell the port")?.to_string();
    let start = |number: usize| {
        let socket = folder.join(format!("{number}.sock"));
        Bare::start(place.command(Program::BareTokio).arg(&address).arg(socket))
    };
    let bare = (0..count).map(start).collect::<Result<Vec<_>>>()?;
    // The connections wait in the listener's queue; that is all they have to do.
    sum(&bare.iter().map(Bare::pid).collect::<Vec<_>>())
}
