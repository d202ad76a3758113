//! `gangline down`: ends the agents, then the hub with its chat server.

use std::{collections::BTreeMap, time::Duration};

use gangline_core::AgentName;
use gangline_hub::{about::Hub, kept::DRAIN_BUDGET};
use gangline_os::{clock, kill::Signal, signals::Signals};

use crate::{
    caller,
    cli::Global,
    failure::Failure,
    fleet::{self, Fleet, LOOK_EVERY, Member, Report, Said},
    output, place,
};

/// The hub ends within this after its last daemon.
const HUB_BUDGET: Duration = Duration::from_secs(30);
/// A hub hears a request within a moment.
const HEARD: Duration = Duration::from_secs(10);

/// Stop all agents and the hub
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Stop only the hub; the agents keep running and the next hub adopts them
    #[arg(long)]
    pub(crate) hub_only: bool,
    /// Interrupt open turns instead of letting them finish
    #[arg(long, conflicts_with = "hub_only")]
    pub(crate) now: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    caller::refuse("end the hub")?;
    let fleet = Fleet::open(place::existing(&global.place())?).await?;
    let hub = fleet.hub()?;
    if args.hub_only {
        if hub.is_none() {
            output::note("no hub runs");
            return Ok(0);
        }
        hub_only(&fleet).await?;
        let members = fleet.members().await?;
        let left: Vec<&str> =
            members.iter().filter(|it| it.runs()).map(|it| it.name.as_str()).collect();
        let left = if left.is_empty() { "no agents".to_owned() } else { left.join(", ") };
        output::print(&format!("the hub has ended; still running: {left}\n"))?;
        return Ok(0);
    }
    let members = fleet.members().await?;
    let running: Vec<&Member> = members.iter().filter(|member| member.runs()).collect();
    if hub.is_none() && running.is_empty() {
        output::note("nothing runs");
        return Ok(0);
    }
    let signals = Signals::new()
        .map_err(|error| Failure::environment(error).doing("cannot listen to signals"))?;
    let mut ending = Ending { fleet: &fleet, signals, asked: 0, haste: None };
    // Whom no hub keeps is asked first, for the chat server ends with the hub.
    let own: Vec<AgentName> =
        running.iter().filter(|it| it.kept.is_none()).map(|it| it.name.clone()).collect();
    ending.drain(&own, None, args.now).await?;
    if let Some(hub) = &hub {
        named(hub)?;
        let names: Vec<AgentName> = running.iter().map(|it| it.name.clone()).collect();
        ending.drain(&names, Some(hub), args.now).await?;
        fleet::settled(&fleet.paths).await?;
    }
    output::print(match hub {
        Some(_) => "the agents and the hub have ended\n",
        None => "the agents have ended; no hub ran\n",
    })?;
    // Whoever closes it last moves the log into the database.
    fleet.store.close().await?;
    Ok(0)
}

/// Ends the hub and leaves the daemons; returns when it is gone, and its lock with it.
pub(super) async fn hub_only(fleet: &Fleet) -> Result<(), Failure> {
    let Some(hub) = fleet.hub()? else { return Ok(()) };
    named(&hub)?;
    fleet::signal(&hub.holder, Signal::Usr1)?;
    let clock = clock::system();
    let until = clock.monotonic() + HUB_BUDGET;
    while fleet.hub()?.is_some_and(|now| now.holder == hub.holder) {
        if clock.monotonic() >= until {
            return Err(Failure::environment(anyhow::anyhow!(
                "the hub, {}, does not end",
                hub.holder
            )));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    fleet::settled(&fleet.paths).await.map(drop)
}

/// Only who has a name can be asked to end.
fn named(hub: &Hub) -> Result<(), Failure> {
    if hub.holder.pid.is_some() { Ok(()) } else { Err(fleet::mute(hub)) }
}

/// The progress of stopping everything.
struct Ending<'a> {
    fleet: &'a Fleet,
    signals: Signals,
    /// How often somebody pressed Ctrl-C meanwhile.
    asked: u32,
    /// Haste that nobody was told of yet: until when the first request is waited to be heard.
    haste: Option<Duration>,
}

impl Ending<'_> {
    /// Ends these daemons, by the hub if it keeps them, and then the hub.
    async fn drain(
        &mut self,
        names: &[AgentName],
        hub: Option<&Hub>,
        now: bool,
    ) -> Result<(), Failure> {
        if names.is_empty() && hub.is_none() {
            return Ok(());
        }
        self.signal(names, hub, Signal::Term).await?;
        let clock = clock::system();
        if now {
            self.haste = Some(clock.monotonic() + HEARD);
        }
        let until = clock.monotonic() + DRAIN_BUDGET + HUB_BUDGET;
        let mut said = Said::new(names);
        loop {
            if self.haste.is_some_and(|until| clock.monotonic() >= until) || self.may_hurry(hub)? {
                self.haste = None;
                self.signal(names, hub, Signal::Int).await?;
            }
            let told = self.reports(names).await?;
            let at = clock.monotonic();
            told.iter().for_each(|(name, told)| said.say(name, told, at));
            let ended = told.values().all(|told| matches!(told, Report::Done(_)));
            let hub_gone = match hub {
                Some(hub) => self.fleet.hub()?.is_none_or(|now| now.holder != hub.holder),
                None => true,
            };
            if ended && hub_gone {
                return Ok(());
            }
            if clock.monotonic() >= until {
                self.signal(names, hub, Signal::Kill).await?;
                if let Some(hub) = hub {
                    fleet::signal(&hub.holder, Signal::Kill)?;
                }
                return Err(Failure::environment(anyhow::anyhow!(
                    "some agents did not end in time \
                     and were killed"
                )));
            }
            let asked = tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => false,
                _ = self.signals.next() => true,
            };
            if asked {
                self.again(names, hub).await?;
            }
        }
    }

    /// Returns whether haste is wanted and can be told now: once the hub has begun to end, for two
    /// requests that come at once may count as one.
    fn may_hurry(&self, hub: Option<&Hub>) -> Result<bool, Failure> {
        let draining = |hub: &Hub| hub.about.as_ref().is_some_and(|about| about.draining);
        Ok(self.haste.is_some()
            && (hub.is_none() || self.fleet.hub()?.is_none_or(|hub| draining(&hub))))
    }

    async fn reports(&self, names: &[AgentName]) -> Result<BTreeMap<AgentName, Report>, Failure> {
        let members = self.fleet.members().await?;
        let of = members.into_iter().filter(|member| names.contains(&member.name));
        Ok(of.map(|member| (member.name.clone(), gone(&member))).collect())
    }

    /// Handles Ctrl-C meanwhile.
    async fn again(&mut self, names: &[AgentName], hub: Option<&Hub>) -> Result<(), Failure> {
        self.asked += 1;
        let signal = match self.asked {
            1 => {
                output::note("stopping; press Ctrl-C again to interrupt open turns");
                return Ok(());
            }
            2 => {
                output::note("open turns are interrupted; press Ctrl-C again to kill the agents");
                self.haste = Some(clock::system().monotonic() + HEARD);
                return Ok(());
            }
            _ => Signal::Kill,
        };
        self.signal(names, hub, signal).await
    }

    /// Signals the daemons, or the hub that passes it on to them. A hub is asked by SIGINT, which
    /// always means the whole fleet.
    async fn signal(
        &self,
        names: &[AgentName],
        hub: Option<&Hub>,
        signal: Signal,
    ) -> Result<(), Failure> {
        if let Some(hub) = hub
            && signal != Signal::Kill
        {
            return fleet::signal(&hub.holder, Signal::Int);
        }
        for name in names {
            if let Some(holder) = fleet::holder(&self.fleet.paths, name)? {
                fleet::signal(&holder, signal)?;
            }
        }
        match hub {
            Some(hub) => fleet::signal(&hub.holder, Signal::Int),
            None => Ok(()),
        }
    }
}

/// Says how far the end of a daemon is, whatever its hub still says of it.
fn gone(member: &Member) -> Report {
    if member.runs() { member.end() } else { Report::Done("ended".to_owned()) }
}
