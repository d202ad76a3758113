//! The tasks towards the network.

use std::{collections::HashSet, sync::Arc};

use gangline_core::name::ChannelName;
use gangline_irc::client::{Link, LinkCommand, LinkEvent};
use gangline_os::{CancellationToken, task::TaskGroup};
use tokio::sync::{mpsc, watch};

use super::{LINK, Shared};
use crate::{
    chat::{Chat, ChatDeps, inquiries::Inquiry},
    root::{closed, logged, read},
    settings::Settings,
};

/// What the tasks towards the network and the store are given.
pub(super) struct Outer {
    pub(super) link: mpsc::Receiver<LinkCommand>,
    pub(super) events: (mpsc::Sender<LinkEvent>, mpsc::Receiver<LinkEvent>),
    pub(super) asked: mpsc::Receiver<Inquiry>,
    /// The channels that the agent has joined, that it wants to be in, and that it is kept out of.
    pub(super) said: (Channels, Channels, Channels),
    pub(super) intake: CancellationToken,
}

pub(super) fn spawn(tasks: &mut TaskGroup, settings: &Settings, shared: &Shared, outer: Outer) {
    let config = read::link_config(settings, shared.unasked.as_deref());
    let (commands, (told, events), stop) = (outer.link, outer.events, shared.flush.clone());
    let opened = CancellationToken::new();
    let may_connect = opened.clone();
    tasks.spawn(LINK, async move {
        tokio::select! {
            () = may_connect.cancelled() => {}
            () = stop.cancelled() => return,
        }
        let end = Link::run(config, commands, told, stop).await;
        tracing::info!(?end, "link ended");
    });
    let chat = Chat::new(deps(settings, shared, outer.said, (outer.intake.clone(), opened)));
    let (ends, ticks, carried) =
        ((events, outer.asked), shared.ticks.clone(), shared.flush.clone());
    tasks.spawn("chat", logged("chat", chat.run(ends, ticks, carried)));
}

type Channels = watch::Sender<HashSet<ChannelName>>;

fn deps(
    settings: &Settings,
    shared: &Shared,
    (joined, wanted, kept_out): (Channels, Channels, Channels),
    (closed, opened): (CancellationToken, CancellationToken),
) -> ChatDeps {
    let own = settings.irc.is_own();
    ChatDeps {
        agent: settings.agent.nick.clone(),
        epoch: shared.epoch,
        store: shared.store.clone(),
        clock: settings.clock.clone(),
        redactor: Arc::clone(&shared.redactor),
        network_id: read::network_id(settings, shared.store.installation_id()),
        own,
        trust_nicks: settings.irc.trust_nicks,
        home: settings.agent.channels.iter().cloned().collect(),
        alerts: settings.alerts.channel.clone(),
        everybody: settings.everybody.clone(),
        closed,
        opened,
        policy: read::policy(settings),
        agent_loop: shared.agent_loop.clone(),
        link: shared.link.clone(),
        outbox: Arc::clone(&shared.outbox),
        rescan: Arc::clone(&shared.rescan),
        alarm: Arc::clone(&shared.alarm),
        showing: shared.showing.clone(),
        can: read::can(settings),
        paths: settings.paths.clone(),
        reminders: read::reminders(settings),
        bounds: closed::resolved(settings),
        model_owner: settings.backend.owner(),
        joined,
        wanted,
        kept_out,
        members: shared.members.clone(),
        turns_released: settings.causes.released,
        rooms: shared.rooms.clone(),
    }
}
