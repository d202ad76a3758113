//! Root causes: the budget of turns, who is told, release and end.

use gangline_core::{AgentName, Epoch, MessageId, MessageState, Origin, Principal, Tier, TurnId};
use gangline_store::{Held, NewMessage, OutboxRow, Released, Store, Take};

use crate::support::*;

/// Two agents in one store, and a root that a person said to the first of them in a room.
struct Scene {
    store: Store,
    root: MessageId,
    epochs: [Epoch; 2],
    turns: i64,
}

impl Scene {
    async fn new(fixture: &Fixture) -> Self {
        let store = fixture.open().await;
        let ada = store.begin_epoch(&ada(), (1, ""), claude()).await.unwrap().epoch;
        let bob = store.begin_epoch(&bob(), (2, ""), claude()).await.unwrap().epoch;
        let root = store.accept(in_room("root")).await.unwrap().id;
        Self { store, root, epochs: [ada, bob], turns: 0 }
    }

    /// A message that an agent's turn for the root has caused.
    async fn follows(&self, agent: &AgentName) -> MessageId {
        let message = NewMessage {
            cause_root: Some(self.root),
            hops: 1,
            origin: Origin::Agent,
            ..message(agent, "follows")
        };
        self.store.accept(message).await.unwrap().id
    }

    fn take(&mut self, agent: &AgentName, messages: &[MessageId], limit: i64) -> (TurnId, Take) {
        self.turns += 1;
        let epoch = self.epochs[usize::from(*agent == bob())];
        let turn = turn(epoch, self.turns);
        (turn, limited(take(agent, turn, messages), limit))
    }

    /// Takes messages into a turn of their own and ends it with an answer. Returns how many there
    /// were to take.
    async fn turn(&mut self, agent: &AgentName, messages: &[MessageId], limit: i64) -> usize {
        let (turn, take) = self.take(agent, messages, limit);
        let taken = self.store.take(take).await.unwrap();
        if !taken.attempts.is_empty() || messages.is_empty() {
            let settle =
                taken.attempts.iter().map(|(id, _)| settle(*id, MessageState::Answered)).collect();
            self.store.end_turn(end(agent, turn, settle)).await.unwrap();
        }
        taken.attempts.len()
    }

    async fn state(&self, id: MessageId) -> (MessageState, Option<String>) {
        let row = self.store.message(id).await.unwrap().unwrap();
        (row.state, row.reason)
    }

    async fn told(&self) -> Vec<OutboxRow> {
        let mut lines = self.store.outbox_pending(&ada(), 9).await.unwrap();
        lines.extend(self.store.outbox_pending(&bob(), 9).await.unwrap());
        lines
    }

    async fn counted(&self) -> i64 {
        self.store.cause(self.root).await.unwrap().unwrap().used.turns
    }
}

fn in_room(body: &str) -> NewMessage {
    NewMessage {
        target: "#room".to_owned(),
        origin: Origin::Mention,
        msgid: Some(format!("id-{body}")),
        ..message(&ada(), body)
    }
}

pub(crate) async fn all_turns_of_a_cause_are_counted_and_the_next_is_held(fixture: &Fixture) {
    let mut scene = Scene::new(fixture).await;
    let root = scene.root;
    assert_eq!(scene.turn(&ada(), &[root], 3).await, 1);
    for agent in [bob(), ada()] {
        let id = scene.follows(&agent).await;
        assert_eq!(scene.turn(&agent, &[id], 3).await, 1);
    }
    let next = scene.follows(&bob()).await;
    assert_eq!(scene.turn(&bob(), &[next], 3).await, 0);
    let reason = format!("the 3 turns of {root} are used up");
    assert_eq!(scene.state(next).await, (MessageState::Held, Some(reason)));
    let cause = scene.store.cause(next).await.unwrap().unwrap();
    assert_eq!((cause.root, cause.used.turns, cause.used.agents, cause.held), (root, 3, 2, 1));
    assert!(cause.held_at.is_some());
    // What a person says anew has turns of its own.
    let other = scene.store.accept(in_room("another")).await.unwrap().id;
    assert_eq!(scene.turn(&ada(), &[other], 3).await, 1);
}

pub(crate) async fn a_limit_is_told_once_by_one_of_many(fixture: &Fixture) {
    let mut scene = Scene::new(fixture).await;
    let root = scene.root;
    scene.turn(&ada(), &[root], 1).await;
    for agent in [bob(), ada(), bob(), ada()] {
        let id = scene.follows(&agent).await;
        assert_eq!(scene.turn(&agent, &[id], 1).await, 0);
    }
    let told = scene.told().await;
    assert_eq!(told.len(), 1);
    // By the agent that is in the room where it began, whichever reached the limit.
    assert_eq!((told[0].agent.clone(), told[0].target.as_str()), (ada(), "#room"));
    let text = told[0].body.as_str();
    let begin = format!("otto: {root} has used its 1 turn (1 turn of 1 agent in ");
    assert!(text.starts_with(&begin), "{text}");
}

pub(crate) async fn on_our_own_server_the_owner_hears_of_a_limit_in_private(fixture: &Fixture) {
    for (tier, target, told) in [
        (Tier::Member, "#room", &["#room", "owner"][..]),
        (Tier::Owner, "#room", &["#room", "owner"]),
        (Tier::Member, "bob", &["bob", "owner"]),
        // The owner reads it where the owner asked.
        (Tier::Owner, "ori", &["ori"]),
    ] {
        let mut scene = Scene::new(fixture).await;
        let principal = Principal { account: "otto".to_owned(), tier };
        let (target, network_id) = (target.to_owned(), scene.store.installation_id().to_owned());
        let root = NewMessage { principal, target, network_id, msgid: None, ..in_room("own") };
        scene.root = scene.store.accept(root).await.unwrap().id;
        scene.turn(&ada(), &[scene.root], 1).await;
        for agent in [bob(), ada()] {
            let id = scene.follows(&agent).await;
            assert_eq!(scene.turn(&agent, &[id], 1).await, 0);
        }
        let of_root = format!("-{}-1", scene.root);
        let lines =
            scene.told().await.into_iter().filter(|it| it.idem_key.as_str().ends_with(&of_root));
        let targets: Vec<String> = lines.map(|line| line.target).collect();
        assert_eq!(targets, *told, "{tier:?}");
    }
}

pub(crate) async fn a_lower_limit_of_one_agent_holds_that_one_only(fixture: &Fixture) {
    let mut scene = Scene::new(fixture).await;
    let root = scene.root;
    scene.turn(&ada(), &[root], 3).await;
    let held = scene.follows(&bob()).await;
    assert_eq!(scene.turn(&bob(), &[held], 1).await, 0);
    assert_eq!(scene.told().await.len(), 1);
    for admitted in [1, 1, 0, 0] {
        let id = scene.follows(&ada()).await;
        assert_eq!(scene.turn(&ada(), &[id], 3).await, admitted);
    }
    assert_eq!(scene.told().await.len(), 2, "each limit once");
}

pub(crate) async fn another_attempt_and_a_second_message_of_a_turn_are_not_counted(
    fixture: &Fixture,
) {
    let mut scene = Scene::new(fixture).await;
    let root = scene.root;
    let (turn, take) = scene.take(&ada(), &[root], 1);
    scene.store.take(take.clone()).await.unwrap();
    scene.store.take(take).await.unwrap();
    let back = vec![settle(root, MessageState::Accepted)];
    scene.store.end_turn(end(&ada(), turn, back)).await.unwrap();
    let (again, take) = scene.take(&ada(), &[root], 1);
    assert_eq!(scene.store.take(take.clone()).await.unwrap().attempts, [(root, 2)]);
    let steered = scene.follows(&ada()).await;
    let more = Take { messages: vec![steered], ..take };
    assert_eq!(scene.store.take(more).await.unwrap().attempts, [(steered, 1)]);
    scene.store.end_turn(end(&ada(), again, Vec::new())).await.unwrap();
    assert_eq!(scene.counted().await, 1);
}

pub(crate) async fn agents_that_one_line_names_share_its_cause(fixture: &Fixture) {
    let mut scene = Scene::new(fixture).await;
    let root = scene.root;
    let same = NewMessage { agent: bob(), ..in_room("root") };
    let same = scene.store.accept(same).await.unwrap().id;
    assert_eq!(scene.turn(&ada(), &[root], 1).await, 1);
    assert_eq!(scene.turn(&bob(), &[same], 1).await, 0);
    assert_eq!(scene.store.cause(same).await.unwrap().unwrap().root, root);
}

pub(crate) async fn a_turn_that_the_backend_began_follows_from_the_last_one(fixture: &Fixture) {
    let mut scene = Scene::new(fixture).await;
    let root = scene.root;
    scene.turn(&ada(), &[root], 3).await;
    let (unasked, take) = scene.take(&ada(), &[], 3);
    scene.store.take(take.clone()).await.unwrap();
    scene.store.take(take).await.unwrap();
    assert_eq!(scene.counted().await, 2);
    let turn = Some(unasked);
    let deliver = Some(NewMessage { origin: Origin::Agent, hops: 1, ..message(&bob(), "hi") });
    let said = gangline_store::Send { turn, deliver, ..send(&ada(), "k", &["hi"]) };
    let delivered = scene.store.send(said).await.unwrap().delivered.unwrap().id;
    assert_eq!(scene.store.cause(delivered).await.unwrap().unwrap().root, root);
    let line = &scene.store.outbox_by_idem(&ada(), "k").await.unwrap()[0];
    assert_eq!((line.cause_root, line.hops), (Some(root), 1));
    scene.store.end_cause(root, "otto").await.unwrap();
    assert_eq!(scene.store.turns_to_end(&ada()).await.unwrap(), [unasked]);
}

pub(crate) async fn a_message_of_too_many_hops_is_held_and_a_release_lets_it_go_on(
    fixture: &Fixture,
) {
    let mut scene = Scene::new(fixture).await;
    let root = scene.root;
    scene.turn(&ada(), &[root], 30).await;
    let far = || NewMessage {
        state: MessageState::Held,
        hops: 9,
        cause_root: Some(root),
        ..message(&bob(), "far")
    };
    let id = scene.store.accept(far()).await.unwrap().id;
    let reason = "9 hops from agent to agent, more than the limit".to_owned();
    assert_eq!(scene.state(id).await, (MessageState::Held, Some(reason)));
    scene.store.accept(far()).await.unwrap();
    let told = scene.told().await;
    assert_eq!(told.len(), 1);
    assert!(told[0].body.as_str().contains("was passed on 9 times"), "{told:?}");
    let released = Released::Done { root, messages: 2, agents: vec![bob()] };
    assert_eq!(scene.store.release(id, 30).await.unwrap(), released);
    // The turns of the release bound it now.
    let more = scene.store.accept(far()).await.unwrap().id;
    assert_eq!(scene.state(more).await, (MessageState::Accepted, None));
    assert_eq!(scene.turn(&bob(), &[id], 30).await, 1);
}

pub(crate) async fn a_release_gives_more_turns_and_wakes_what_was_held(fixture: &Fixture) {
    let mut scene = Scene::new(fixture).await;
    let root = scene.root;
    scene.turn(&ada(), &[root], 1).await;
    let mut held = Vec::new();
    for agent in [bob(), ada(), bob()] {
        let id = scene.follows(&agent).await;
        scene.turn(&agent, &[id], 1).await;
        held.push(id);
    }
    let released = Released::Done { root, messages: 3, agents: vec![ada(), bob()] };
    assert_eq!(scene.store.release(held[2], 2).await.unwrap(), released);
    assert_eq!(scene.turn(&bob(), &[held[0]], 1).await, 1);
    assert_eq!(scene.turn(&ada(), &[held[1]], 1).await, 1);
    assert_eq!(scene.turn(&bob(), &[held[2]], 1).await, 0);
    assert_eq!(scene.told().await.len(), 2, "the second limit is told too");
    let unknown = scene.store.release(MessageId(99), 2).await.unwrap();
    assert_eq!(unknown, Released::Unknown);
}

pub(crate) async fn an_ended_cause_takes_all_with_it(fixture: &Fixture) {
    let mut scene = Scene::new(fixture).await;
    let root = scene.root;
    let (open, take) = scene.take(&ada(), &[root], 30);
    scene.store.take(take).await.unwrap();
    let waits = scene.follows(&bob()).await;
    let ended = scene.store.end_cause(waits, "otto").await.unwrap().unwrap();
    assert_eq!((ended.root, ended.cancelled, ended.again), (root, 1, false));
    assert_eq!(ended.turns, [(ada(), open)]);
    assert_eq!(scene.store.turns_to_end(&ada()).await.unwrap(), [open]);
    assert_eq!(scene.store.turns_to_end(&bob()).await.unwrap(), []);
    let why = Some(format!("{root} was ended by otto"));
    assert_eq!(scene.state(waits).await, (MessageState::Cancelled, why.clone()));
    let late = scene.follows(&bob()).await;
    assert_eq!(scene.state(late).await, (MessageState::Cancelled, why.clone()));
    // What comes back from its turn is not taken again.
    let back = vec![settle(root, MessageState::Accepted)];
    scene.store.end_turn(end(&ada(), open, back)).await.unwrap();
    assert_eq!(scene.turn(&ada(), &[root], 30).await, 0);
    assert_eq!(scene.state(root).await, (MessageState::Cancelled, why));
    let released = scene.store.release(late, 30).await.unwrap();
    assert_eq!(released, Released::Ended { root, by: "otto".to_owned() });
    assert!(scene.store.end_cause(late, "otto").await.unwrap().unwrap().again);
    assert_eq!(scene.store.end_cause(MessageId(99), "otto").await.unwrap(), None);
}

pub(crate) async fn a_limit_is_told_where_it_began(fixture: &Fixture) {
    let mut scene = Scene::new(fixture).await;
    let from_shell = NewMessage { target: String::new(), ..message(&ada(), "shell") };
    let root = scene.store.accept(from_shell).await.unwrap().id;
    scene.turn(&ada(), &[root], 1).await;
    let here = NewMessage {
        cause_root: Some(root),
        hops: 1,
        target: "#other".to_owned(),
        ..message(&bob(), "here")
    };
    let here = scene.store.accept(here).await.unwrap().id;
    scene.turn(&bob(), &[here], 1).await;
    let told = scene.told().await;
    assert_eq!((told[0].agent.clone(), told[0].target.as_str()), (bob(), "#other"));
    // An agent that is to be down does not tell.
    scene.store.order(&ada(), gangline_store::Desired::Down, "otto").await.unwrap();
    let root = scene.root;
    scene.turn(&ada(), &[root], 1).await;
    let next = scene.follows(&bob()).await;
    scene.turn(&bob(), &[next], 1).await;
    let told = scene.told().await;
    assert_eq!((told[1].agent.clone(), told[1].target.as_str()), (bob(), "#room"));
}

pub(crate) async fn a_queue_is_counted_however_long_it_is(fixture: &Fixture) {
    let store = fixture.open().await;
    assert_eq!(store.waiting(&ada()).await.unwrap(), 0);
    let many = u64::from(gangline_store::PAGE_MAX) + 1;
    for _ in 0..many {
        store.accept(message(&ada(), "waits")).await.unwrap();
    }
    let far = NewMessage { state: MessageState::Held, hops: 9, ..message(&ada(), "far") };
    let root = store.accept(far).await.unwrap().id;
    assert_eq!(store.waiting(&ada()).await.unwrap(), many);
    let why = "9 hops from agent to agent, more than the limit".to_owned();
    assert_eq!(store.held(&ada()).await.unwrap(), [Held { root, messages: 1, why }]);
    assert_eq!(store.held(&bob()).await.unwrap(), []);
}
