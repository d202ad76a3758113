//! What the agent says is said once in the order of each room, whatever the order of losses and
//! restarts.

use proptest::prelude::*;

use crate::chat::tests::EmptyStore;

mod sim;

use sim::{Network, Sim};

#[derive(Debug, Clone, Copy)]
enum Step {
    /// The agent says this many lines in a place.
    Say(usize, usize),
    /// Somebody else says something in a room.
    Chatter(usize),
    /// The link takes a command of the chat's.
    Take,
    /// The link sends the next of its lines.
    Send,
    /// The server takes what was sent next.
    Serve,
    /// The link reads what the server sent next.
    Read,
    /// The chat hears of an event of the link's.
    Hear,
    /// The daemon is killed while it does.
    DieHearing(usize),
    /// The daemon is killed while it gives lines to the link.
    DieSending(usize),
    /// The connection is lost; the server has had so much of what was on its way.
    Lose(usize),
    Connect,
    Join,
    Kick(usize),
    Tick,
    Kill(usize),
    Choose,
    Leave,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        10 => (0..4_usize, 1..4_usize).prop_map(|(place, lines)| Step::Say(place, lines)),
        3 => (0..3_usize).prop_map(Step::Chatter),
        20 => Just(Step::Take),
        20 => Just(Step::Send),
        20 => Just(Step::Serve),
        20 => Just(Step::Read),
        20 => Just(Step::Hear),
        1 => (0..6_usize).prop_map(Step::DieHearing),
        1 => (0..6_usize).prop_map(Step::DieSending),
        3 => (0..4_usize).prop_map(Step::Lose),
        6 => Just(Step::Connect),
        12 => Just(Step::Join),
        1 => (0..3_usize).prop_map(Step::Kick),
        4 => Just(Step::Tick),
        1 => (0..4_usize).prop_map(Step::Kill),
        1 => Just(Step::Choose),
        1 => Just(Step::Leave),
    ]
}

fn network() -> impl Strategy<Value = Network> {
    prop_oneof![
        Just(Network::Own { several: true }),
        Just(Network::Own { several: false }),
        Just(Network::Foreign { history: true, refuses: false }),
        Just(Network::Foreign { history: true, refuses: true }),
        Just(Network::Foreign { history: false, refuses: false }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// F5: each line is said, in the order of its room, and no row waits for ever. On our own server it
    /// is there once.
    #[test]
    fn each_line_is_said(
        network in network(),
        steps in prop::collection::vec(step(), 1..140),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let faults = runtime.block_on(async {
            let store = EmptyStore::make().await;
            let mut sim = Sim::open(&store, network).await;
            for step in steps {
                sim.does(step).await;
            }
            sim.rests().await;
            sim.faults().await
        });
        prop_assert_eq!(faults, [""; 0]);
    }
}
