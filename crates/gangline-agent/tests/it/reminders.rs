//! Reminders that people set in the chat.

use std::time::Duration;

use gangline_core::{Principal, Redacted, Tier};
use gangline_os::clock::{Clock as _, UnixMicros};
use gangline_store::NewReminder;
use gangline_testkit::irc;

use crate::rig::{ADA, ROOM, Rig, said};

const SCRIPT: &str = r##"
rules:
  - when: {user: 'REMINDER'}
    reply: [text: "the build is green"]
  - when: {user: 'remind yourself'}
    reply: [tool_use: {name: remind, input: {message: "look", due: "in 20 min"}}]
  - when: {tool: remind}
    reply: [text: "I have tried"]
  - reply: [text: "done"]
"##;
const ROWS: &str = "SELECT principal || ' ' || tier || ' ' || target || ' ' || body || ' ' || state \
                    FROM reminders ORDER BY id";
const MINUTE: Duration = Duration::from_secs(60);

/// What an owner makes at the command line.
fn reminder(request: &str, due_at: UnixMicros) -> NewReminder {
    NewReminder {
        agent: ADA.parse().unwrap(),
        by: Principal { account: "owner".to_owned(), tier: Tier::Owner },
        turn: None,
        request: request.to_owned(),
        target: String::new(),
        body: Redacted::from_store("tea".to_owned()),
        due_at,
        repeats: None,
        open_max: 100,
    }
}

/// R2-28: a person's reminder is the agent's, and what the agent says to it comes where it was set.
#[test]
fn a_reminder_of_a_person_is_answered_where_it_was_set() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada remind in 20 min look at the build");
    ori.hears(ADA, ROOM, "reminder 1 is due ");
    rig.sees(ROWS, &["~ori member #general look at the build waiting"]);
    rig.clock.forward(20 * MINUTE);
    ori.hears(ADA, ROOM, "the build is green");
    rig.sees(ROWS, &["~ori member #general look at the build fired"]);
    let given = rig.query("SELECT sender || ': ' || body FROM messages WHERE origin = 'reminder'");
    assert_eq!(given, ["reminder: [REMINDER 1] look at the build"]);
    // In private, too.
    ori.say(ADA, "Remind every 2 hours look again");
    ori.wait("the private reminder", |line| {
        let said = irc::said(line)?;
        (said.target != ROOM && said.text.contains("then every 2 h")).then_some(())
    });
    rig.clock.forward(120 * MINUTE);
    ori.wait("the private answer", |line| {
        let said = irc::said(line)?;
        (said.target != ROOM && said.text.contains("the build is green")).then_some(())
    });
    assert_eq!(daemon.stop().code, 0);
}

/// A line with a time that cannot be used is told why; one without any time is a prompt.
#[test]
fn a_reminder_that_cannot_be_set_says_why_and_talk_of_reminding_is_a_prompt() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let mut ori = rig.member("ori");
    for (line, why) in [
        ("2020-01-01 09:00 pay", "has passed"),
        ("cron 61 9 * * 1 look", "a bad cron form"),
        ("in 20 min", "say after the time what I am reminded of"),
    ] {
        ori.say(ROOM, &format!("@lab-ada remind {line}"));
        ori.hears(ADA, ROOM, why);
    }
    ori.say(ROOM, "@lab-ada remind me of the milk");
    ori.hears(ADA, ROOM, "done");
    rig.sees(ROWS, &[]);
    rig.sees("SELECT body FROM messages", &["@lab-ada remind me of the milk"]);
    assert!(!said(&mut ori).iter().any(|text| text.contains("done: ")));
    assert_eq!(daemon.stop().code, 0);
}

/// R2-28: one that another process makes is on time: the change notice is enough, no tick is waited for.
#[test]
fn a_reminder_from_outside_the_daemon_is_on_time() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    // The next tick is later than the reminder.
    rig.tick();
    let soon = Duration::from_secs(10);
    let due_at = UnixMicros(rig.clock.now().plus(soon).0);
    rig.outside(async |store| {
        store.remind(reminder("soon", due_at)).await.unwrap();
    });
    rig.notify();
    rig.clock.forward(soon);
    rig.sees("SELECT state FROM reminders", &["fired"]);
    assert_eq!(daemon.stop().code, 0);
}

/// R2-28: a hundred wait for an agent, whoever sets them, and the next one is refused.
#[test]
fn a_hundred_reminders_wait_and_no_more() {
    let rig = Rig::native(SCRIPT, "");
    let daemon = rig.start();
    let due_at = UnixMicros(gangline_os::clock::system().now().plus(600 * MINUTE).0);
    rig.outside(async |store| {
        for at in 0..100 {
            store.remind(reminder(&at.to_string(), due_at)).await.unwrap();
        }
    });
    let mut ori = rig.member("ori");
    ori.say(ROOM, "@lab-ada remind in 5 min look");
    ori.hears(ADA, ROOM, "no reminder is set: too many reminders of this agent wait");
    ori.say(ROOM, "@lab-ada remind yourself");
    ori.hears(ADA, ROOM, "I have tried");
    let shown = rig.requests().pop().unwrap()["messages"].to_string();
    assert!(shown.contains("no reminder was made: "), "{shown}");
    rig.sees("SELECT count(*) FROM reminders", &["100"]);
    assert_eq!(daemon.stop().code, 0);
}
