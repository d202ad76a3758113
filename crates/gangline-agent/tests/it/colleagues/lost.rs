//! An agent is asked, and its daemon is killed: who asked has the answer that recovery gives.

use crate::rig::{ADA, BOB, ROOM, Rig};

/// R2-22, C6: Bob had no reply and was killed before his turn was over. His next daemon answers for that turn,
/// and notifies Ada's daemon of it once. Nobody else does, and Ada takes the answer as soon as she runs.
#[test]
fn who_asked_a_daemon_that_was_killed_is_notified_once_of_the_answer() {
    let script = "rules:
  - when: {tool: ask}
    reply: [text: 'I have asked']
  - when: {tool: no_reply}
    reply: [delay_ms: 600000, text: 'too late']
  - when: {user: '\\[QUESTION (\\d+)\\] <ADA> which\\?'}
    reply: [tool_use: {name: no_reply, input: {}}]
  - when: {user: '\\[ANSWER 1\\] <([^>]+)> \\[no answer\\]'}
    reply: [text: 'on without $1']
  - when: {model: standin-ADA}
    reply: [tool_use: {name: ask, input: {question: 'which?', to: BOB}}]
";
    let rig = Rig::two(&script.replace("ADA", ADA).replace("BOB", BOB));
    let (ada, bob) = (rig.start(), rig.start_bob());
    let mut alice = rig.member("alice");
    alice.say(ROOM, "@lab-ada begin");
    alice.hears(ADA, ROOM, "I have asked");
    rig.sees(
        "SELECT count(*) FROM events WHERE agent = 'lab-bob' AND kind = 'assistant' \
         AND payload LIKE '%no_reply%'",
        &["1"],
    );
    bob.kill();
    assert_eq!(ada.stop().code, 0);
    let notices = rig.notices_to_ada();
    let _bob = rig.start_bob_again();
    let waits =
        "SELECT agent || ' ' || origin || ' ' || state FROM messages WHERE origin = 'answer'";
    assert_eq!(rig.query(waits), ["lab-ada answer accepted"]);
    assert_eq!(notices.count(), 1);
    let _ada = rig.start();
    alice.hears(ADA, ROOM, "on without lab-bob");
}
