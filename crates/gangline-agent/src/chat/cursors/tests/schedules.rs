//! What is said is taken in, whatever the order of losses and restarts.

use proptest::prelude::*;

use crate::chat::tests::EmptyStore;

mod sim;

use sim::{History, Sim};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Text {
    Question,
    /// An order, which counts once.
    Pause,
}

#[derive(Debug, Clone, Copy)]
struct Say {
    by: usize,
    /// A room, or the agent alone.
    place: usize,
    text: Text,
    /// In the millisecond of the line before.
    tie: bool,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Say(Say),
    /// The link takes a command of the chat's.
    Carry,
    /// The same, but an answer about history is too late.
    Stall,
    /// The chat hears of an event of the link's.
    Hear,
    /// The store takes nothing any more while it does, after so much of it.
    HearUntil(usize),
    /// The daemon is killed while it does.
    DieHearing(usize),
    /// The connection is lost, which the chat hears later.
    Lose,
    /// There is a connection again, in no room yet.
    Connect,
    /// The server has let it into the next room.
    Join,
    Kick(usize),
    Tick,
    /// The store takes nothing, or takes something again.
    Refuse(bool),
    /// The daemon is killed, and starts again.
    Kill,
    /// The agent wants to be in another room.
    Choose,
    /// It wants that no more.
    Leave,
}

fn say() -> impl Strategy<Value = Step> {
    let text = prop_oneof![5 => Just(Text::Question), 1 => Just(Text::Pause)];
    let place = prop_oneof![2 => 0..2_usize, 1 => Just(2_usize), 3 => Just(3_usize)];
    let said = (0..3_usize, place, text, any::<bool>());
    said.prop_map(|(by, place, text, tie)| Step::Say(Say { by, place, text, tie }))
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        20 => say(),
        24 => Just(Step::Carry),
        1 => Just(Step::Stall),
        24 => Just(Step::Hear),
        1 => (0..12_usize).prop_map(Step::HearUntil),
        1 => (0..12_usize).prop_map(Step::DieHearing),
        5 => Just(Step::Lose),
        8 => Just(Step::Connect),
        16 => Just(Step::Join),
        2 => (0..3_usize).prop_map(Step::Kick),
        5 => Just(Step::Tick),
        2 => any::<bool>().prop_map(Step::Refuse),
        2 => Just(Step::Kill),
        2 => Just(Step::Choose),
        1 => Just(Step::Leave),
    ]
}

/// One person, one room and little else: so a schedule has many turns of the connection in it.
fn few() -> impl Strategy<Value = Vec<Step>> {
    let say = |place| Step::Say(Say { by: 0, place, text: Text::Question, tie: false });
    let one = prop_oneof![
        6 => prop_oneof![2 => Just(0_usize), 1 => Just(3_usize)].prop_map(say),
        8 => Just(Step::Carry),
        8 => Just(Step::Hear),
        2 => Just(Step::Lose),
        3 => Just(Step::Connect),
        4 => Just(Step::Join),
        2 => Just(Step::Tick),
        1 => any::<bool>().prop_map(Step::Refuse),
        1 => Just(Step::Kill),
    ];
    // The hub dies right after the daemon's start.
    let again = [Step::Kill, Step::Connect, Step::Join, Step::Join, Step::Lose].to_vec();
    prop_oneof![30 => one.prop_map(|step| vec![step]), 1 => Just(again)]
}

fn all_is_taken_in(steps: Vec<Step>, history: History) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (missing, (prompts, orders), paused) = runtime.block_on(async {
        let store = EmptyStore::make().await;
        let mut sim = Sim::open(&store, history).await;
        for step in steps {
            sim.does(step).await;
        }
        sim.rests().await;
        (sim.missing().await, sim.orders().await, sim.paused)
    });
    prop_assert_eq!(missing, [""; 0]);
    prop_assert_eq!(prompts, [""; 0]);
    prop_assert!(paused <= orders, "{paused} of {orders}");
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    /// F1: everything that the server has accepted is in the store in the end; an order is carried out
    /// once at most, and is no prompt.
    #[test]
    fn nothing_that_was_said_is_missing(
        steps in prop::collection::vec(step(), 1..120),
        of_anybody in any::<bool>(),
    ) {
        let history = if of_anybody { History::OfAnybody } else { History::OfMembers };
        all_is_taken_in(steps, history)?;
    }

    /// The same, where connections come and go more often than anything else happens.
    #[test]
    fn nothing_is_missing_however_often_the_connection_is_lost(
        steps in prop::collection::vec(few(), 1..120),
    ) {
        all_is_taken_in(steps.concat(), History::OfMembers)?;
    }
}
