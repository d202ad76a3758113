//! What holds for every sequence of inputs, stale ids mixed in; the invariants are asserted by
//! the world around the agent.

use proptest::{collection::vec, prelude::*};

use super::{world::World, *};
use crate::{effort::EffortChange, message::MessageState, whisper::WhisperRoad};

/// One thing that happens. `arg` picks among few values, so that ids meet; `stale` shifts ids.
#[derive(Debug, Clone)]
struct Step {
    what: u8,
    arg: u8,
    stale: bool,
}

fn step() -> impl Strategy<Value = Step> {
    (0u8..114, any::<u8>(), prop::bool::weighted(0.12)).prop_map(|(what, arg, stale)| Step {
        what,
        arg,
        stale,
    })
}

fn ids_of(world: &World, step: &Step) -> (TurnId, Generation) {
    let number = world.open.as_ref().map_or(1, |open| open.turn.number);
    let generation = world.alive.map_or(1, |(generation, _)| generation.0);
    let shift = if !step.stale {
        0
    } else if step.arg.is_multiple_of(2) {
        -1
    } else {
        3
    };
    (turn(number + shift), Generation(generation + shift))
}

#[allow(clippy::too_many_lines, reason = "a line or a few for each step")]
fn play(world: &mut World, step: &Step) {
    let (turn, generation) = ids_of(world, step);
    let arg = step.arg;
    let message = MessageId(i64::from(arg % 12) + 1);
    let request = request(["a", "b", "c"][usize::from(arg % 3)]);
    let by = if arg.is_multiple_of(4) { EndedBy::Us } else { EndedBy::Itself };
    let runtime = Input::Runtime;
    match step.what {
        0..14 => world.message(message),
        14..26 => {
            if step.stale {
                world.give(Input::Taken { turn });
            } else {
                world.serve(!arg.is_multiple_of(8));
            }
        }
        26..36 => world.give(runtime(RuntimeInput::Ready { generation })),
        37 if arg < 100 => world.give(runtime(RuntimeInput::LoggedIn { generation })),
        37 if arg < 120 => world.give(runtime(RuntimeInput::NeedsLogin { generation })),
        37 if arg < 150 => world.give(runtime(RuntimeInput::Primes { generation })),
        36..38 => world.give(runtime(RuntimeInput::Began { generation })),
        38 if arg < 200 => {
            let tokens = if arg < 120 { 100 } else { 99 };
            world.give(runtime(RuntimeInput::Holds { tokens, window: None }));
        }
        38..40 => change(world, generation, arg),
        40 => world.give(runtime(RuntimeInput::Accepted { turn })),
        41..44 => world.give(runtime(RuntimeInput::Output { turn })),
        44..48 => world.give(runtime(RuntimeInput::Text { turn, text: format!("words {arg}") })),
        48..50 => {
            let tool = [Tool::Send, Tool::Shell, Tool::Other][usize::from(arg % 3)];
            world.give(runtime(RuntimeInput::ToolResult { turn, tool }));
        }
        50..55 => world.give(runtime(RuntimeInput::ApprovalAsked { turn, request })),
        55 => world.give(runtime(RuntimeInput::ApprovalWithdrawn { turn, request })),
        56..61 => {
            let decision = if arg < 128 { Decision::Allow } else { Decision::Deny };
            world.give(Input::Decision { turn, request, decision });
        }
        61..69 => world.give(runtime(RuntimeInput::Finished { turn, how: finish(arg) })),
        69 if arg.is_multiple_of(2) => world.give(runtime(RuntimeInput::Ended { generation })),
        69..74 => world.give(runtime(RuntimeInput::Exited { generation, by })),
        74..77 => {
            let to = ["#lab", "ori", "#else"][usize::from(arg % 3)].to_owned();
            world.give(Input::Sent { turn, to, in_reply_to: (arg < 40).then_some(message) });
        }
        77 => world.give(Input::NoReply { turn, message: (arg < 128).then_some(message) }),
        78..80 => {
            let reason = PauseReason::ALL[usize::from(arg) % PauseReason::ALL.len()];
            let wait = Duration::from_secs(u64::from(arg) * 7);
            let until = Until { at: WallMicros(1), wait };
            match arg % 3 {
                0 => world.give(Input::Unpause { reason }),
                1 => world.give(Input::Pause { reason, until: None }),
                _ => world.give(Input::Pause { reason, until: Some(until) }),
            }
        }
        80..84 => world.give(Input::Operator(Operator::Resume)),
        84..86 => world.give(Input::Operator(Operator::Interrupt(By::Operator))),
        86 => world.give(Input::StoreDegraded),
        87..89 => world.give(Input::StoreOk),
        89 => {
            let (state, _) = *world.rows.entry(message).or_insert((MessageState::Accepted, 0));
            if state == MessageState::Accepted {
                world.rows.insert(message, (MessageState::Cancelled, 0));
                world.give(Input::Cancelled { message });
            }
        }
        90 if arg < 90 => read(world, message),
        90 if arg < 180 => joined(world),
        90 => {
            let messages = world.agent.view().messages;
            world.give(runtime(RuntimeInput::Steered { turn, messages }));
        }
        91..94 => {
            let seconds = [1, 5, 30, 400, 1000][usize::from(arg % 5)];
            world.now = world.now.plus(Duration::from_secs(seconds));
            world.give(Input::Tick);
        }
        94..=98 => {
            if let Some(deadline) = world.agent.next_deadline() {
                world.now = world.now.max(deadline);
            }
            world.give(Input::Tick);
        }
        100..=107 => change(world, generation, arg),
        110..=113 => {
            let road = WhisperRoad::ALL[usize::from(arg) % WhisperRoad::ALL.len()];
            world.think_deeper(turn, road);
        }
        108 | 109 => world.give(runtime(RuntimeInput::Finished { turn, how: Finish::Overflow })),
        _ if arg < 40 => {
            world.give(Input::Drain(if arg < 20 { Drain::Soft } else { Drain::Now }));
        }
        _ => world.scan(),
    }
}

/// Something about the session and its context.
fn change(world: &mut World, generation: Generation, arg: u8) {
    let runtime = Input::Runtime;
    match arg % 12 {
        0 | 1 => world.give(runtime(RuntimeInput::Compacted { generation })),
        2 | 3 => world.give(runtime(RuntimeInput::NotCompacted { generation })),
        4 | 5 => {
            let models = [ModelChange::Any, ModelChange::Named, ModelChange::Restart];
            let (compact, clear) = (arg < 200, arg.is_multiple_of(2));
            let efforts = [EffortChange::AtOnce, EffortChange::NextTurn, EffortChange::Never];
            let effort = efforts[usize::from(arg / 3 % 3)];
            let model = models[usize::from(arg % 3)];
            let abilities = Abilities { compact, clear, model, effort };
            world.give(runtime(RuntimeInput::Can { generation, abilities }));
        }
        6 => world.give(runtime(RuntimeInput::Unusable { generation })),
        7 => world.give(Input::Change(ContextChange::Compact)),
        8 => world.give(Input::Change(ContextChange::Clear)),
        9 => world.give(Input::ModelChosen(ChosenModel::Default)),
        10 => world.give(Input::EffortChosen),
        _ => world.give(Input::ModelChosen(ChosenModel::Named)),
    }
}

fn read(world: &mut World, message: MessageId) {
    world.give(Input::Read { messages: vec![message, MessageId(99)] });
}

/// The store has recorded what was steered.
fn joined(world: &mut World) {
    if let Some((turn, messages)) = world.joined() {
        world.give(Input::Joined { turn, messages });
    }
}

fn limit(arg: u8) -> Limit {
    if arg.is_multiple_of(2) { Limit::Quota } else { Limit::Throttle }
}

fn finish(arg: u8) -> Finish {
    match arg % 7 {
        0..3 => Finish::Completed,
        3 => Finish::Failed("x".to_owned()),
        4 => Finish::RateLimited {
            until: WallMicros(1),
            wait: Duration::from_secs(9),
            limit: limit(arg),
        },
        5 => Finish::NeedsLogin,
        _ => Finish::Interrupted,
    }
}

/// After a drain and enough ticks nothing is open.
fn drain(world: &mut World) {
    world.give(Input::Drain(Drain::Now));
    for _ in 0..4 {
        world.serve(true);
        if let Some(deadline) = world.agent.next_deadline() {
            world.now = world.now.max(deadline);
        }
        world.give(Input::Tick);
    }
    assert!(world.drained && world.open.is_none(), "{:?}", world.agent);
    assert_eq!(world.agent.next_deadline(), None);
}

/// Once people and programs behave, every message that waits is settled: none is lost.
fn settle_all(world: &mut World) {
    world.give(Input::Operator(Operator::Resume));
    for reason in PauseReason::ALL {
        world.give(Input::Unpause { reason: *reason });
    }
    world.give(Input::StoreOk);
    world.scan();
    for _ in 0..120 {
        world.serve(true);
        if world.agent.view().phase == PhaseName::Parked {
            // A death that was under way parked it once more.
            world.give(Input::Operator(Operator::Resume));
        } else if let Some((generation, false)) = world.alive {
            world.give(Input::Runtime(RuntimeInput::Ready { generation }));
        } else if let Some(turn) = world.open.as_ref().map(|open| open.turn) {
            let text = "done".to_owned();
            world.give(Input::Runtime(RuntimeInput::Text { turn, text }));
            let how = Finish::Completed;
            world.give(Input::Runtime(RuntimeInput::Finished { turn, how }));
        } else if let Some(deadline) = world.agent.next_deadline() {
            world.now = world.now.max(deadline);
            world.give(Input::Tick);
        } else {
            world.scan();
        }
    }
    world.owes_nothing_between_turns();
    let open: Vec<_> = world.rows.iter().filter(|(_, (state, _))| !state.is_terminal()).collect();
    assert!(open.is_empty(), "{open:?} in {:?}", world.agent);
    assert!(world.answers.values().all(|answers| *answers == 1), "answered twice");
}

/// Has a message answered, and what follows from it; each turn leaves so many tokens.
fn one_turn(world: &mut World, message: MessageId, tokens: u64) {
    // Deaths are far apart.
    world.now = world.now.plus(Duration::from_secs(400));
    world.give(Input::Tick);
    world.message(message);
    for _ in 0..10 {
        world.serve(true);
        if let Some((generation, false)) = world.alive {
            world.give(Input::Runtime(RuntimeInput::Ready { generation }));
        } else if let Some(turn) = world.open.as_ref().map(|open| open.turn) {
            let (text, how) = ("done".to_owned(), Finish::Completed);
            world.give(Input::Runtime(RuntimeInput::Holds { tokens, window: None }));
            world.give(Input::Runtime(RuntimeInput::Text { turn, text }));
            world.give(Input::Runtime(RuntimeInput::Finished { turn, how }));
        }
    }
    assert_eq!(world.rows[&message].0, MessageState::Answered, "{:?}", world.agent);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2_500,
        max_shrink_iters: 4_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The invariants of the turn machine: at most one open turn; every started turn ends once;
    /// every message of a turn is settled or returned once; every approval is settled once; no
    /// deadline fires while one is open; drained once and never inside a turn; parked holds
    /// nothing; and no message is lost.
    #[test]
    fn the_invariants_hold_for_every_sequence(
        steps in vec(step(), 80..130),
        eager in any::<bool>(),
        drains in any::<bool>(),
        queue_max in prop::sample::select(vec![2usize, 256]),
        messages_per_turn in 1usize..3,
        when_busy in prop::sample::select(vec![WhenBusy::Queue, WhenBusy::Buffer, WhenBusy::Steer]),
        cares in any::<bool>(),
        fresh in any::<bool>(),
        compacts in any::<bool>(),
        first_words in any::<bool>(),
    ) {
        let start = if eager { StartMode::Eager } else { StartMode::WhenNeeded };
        let watermark = cares.then_some(Watermark::Tokens(100));
        let on_crash = if fresh { OnCrash::Fresh } else { OnCrash::Resume };
        let options = AgentOptions {
            start,
            queue_max,
            messages_per_turn,
            when_busy,
            watermark,
            on_crash,
            compacts,
            first_words,
            ..AgentOptions::default()
        };
        let mut world = World::new(options);
        for step in &steps {
            play(&mut world, step);
        }
        if drains || world.agent.view().draining {
            drain(&mut world);
        } else {
            settle_all(&mut world);
        }
    }

    /// R2-09: in a passage the context is to be shortened twice at most, and the second time only
    /// after the first was in vain (the world asserts it); then surely, once a turn completes.
    #[test]
    fn a_shortening_that_fails_is_tried_again_and_no_more(words in vec(0u8..8, 4..30)) {
        let watermark = Some(Watermark::Tokens(100));
        let start = StartMode::Eager;
        let mut world = World::new(AgentOptions { start, watermark, ..AgentOptions::default() });
        for (id, word) in (1..).zip(words) {
            let due = word != 0 && world.orders == (1, true);
            one_turn(&mut world, MessageId(id), if word == 0 { 99 } else { 100 });
            assert!(!due || world.orders.0 == 2, "not tried again: {:?}", world.agent);
            match (word, world.alive) {
                (1, Some((generation, _))) => {
                    world.give(Input::Runtime(RuntimeInput::Compacted { generation }));
                }
                (2..6, Some((generation, _))) => {
                    world.give(Input::Runtime(RuntimeInput::NotCompacted { generation }));
                }
                (6, Some((generation, _))) => {
                    let by = EndedBy::Itself;
                    world.give(Input::Runtime(RuntimeInput::Exited { generation, by }));
                }
                _ => {}
            }
        }
    }
}
