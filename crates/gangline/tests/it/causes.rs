//! What one request may cost: five agents that mention all others, at the limit of its turns.

use gangline_testkit::{IrcPeer, Running, Stage, eventually};

const AGENTS: [&str; 5] = ["co-ada", "co-bob", "co-cyd", "co-dan", "co-eve"];
/// Turns that one request may have here; two generations of mentions do not fit into them.
const LIMIT: usize = 12;

/// Five agents, each of whose turns mentions all the others by tool.
struct Storm {
    stage: Stage,
    _hub: Running,
    owner: IrcPeer,
}

impl Storm {
    fn begins(mention: &str) -> Self {
        let script = "rules:
  - when: {tool: send}
    reply: [text: NO_REPLY]
  - when: {user: quiet}
    reply: [text: quiet it is]
  - reply: [tool_use: {name: send, input: {to: '#general', text: 'all: @co-ada @co-bob @co-cyd \
                      @co-dan @co-eve'}}]
";
        let more = format!("turns_per_cause: {LIMIT}");
        let binary = env!("CARGO_BIN_EXE_gangline");
        let stage = Stage::new(binary, &AGENTS, Some(script), (&more, ""));
        let hub = stage.up();
        let mut owner = stage.owner("otto");
        owner.say("#general", mention);
        Self { stage, _hub: hub, owner }
    }

    fn number(&self, sql: &'static str) -> usize {
        self.stage.query(sql)[0].parse().unwrap()
    }

    fn turns(&self) -> usize {
        self.number("SELECT count(*) FROM turns")
    }

    /// Waits until nothing is under way and so many messages at least are held.
    fn settles(&self, what: &str) {
        eventually(what, || {
            let open = self.number(
                "SELECT (SELECT count(*) FROM messages WHERE state IN ('accepted', 'in_turn')) \
                 + (SELECT count(*) FROM outbox WHERE state IN ('queued', 'sent')) \
                 + (SELECT count(*) FROM turns WHERE ended_at IS NULL)",
            );
            (open == 0 && self.number("SELECT count(*) FROM messages WHERE state = 'held'") > 0)
                .then_some(())
        });
    }

    /// Returns what was said in the room of a limit.
    fn told(&self) -> Vec<String> {
        let lines = self.owner.lines();
        // The owner has it in private too.
        let said = lines.iter().filter(|line| line.contains(" NOTICE #general :"));
        said.filter(|line| line.contains("what follows from it is held")).cloned().collect()
    }
}

/// All agents together have no more turns for one request than the limit; the room is told once,
/// and a person releases as many again, by a line or on the command line.
#[test]
fn five_agents_that_mention_all_others_stop_at_the_limit_and_go_on_when_released() {
    let mut storm = Storm::begins("@co-ada begin");
    let told = format!("otto: m1 has used its {LIMIT} turns ({LIMIT} turns of 5 agents in ");
    storm.owner.hears("co-ada", "#general", &told);
    storm.settles("the limit");
    assert_eq!((storm.turns(), storm.told().len()), (LIMIT, 1), "{:#?}", storm.told());
    let listed = storm.stage.world.run(&["ps"]).ok();
    assert!(listed.contains("release m1 ("), "{listed}");
    let held = storm.stage.query("SELECT 'm' || id FROM messages WHERE state = 'held'");
    let trace = storm.stage.world.run(&["trace", &held[0]]).ok();
    assert!(trace.contains(&format!("held: the {LIMIT} turns of m1 are used up")), "{trace}");
    // A member does not release.
    let mut alice = storm.stage.member("alice");
    alice.say("#general", "@co-bob go on m1");
    alice.hears("co-bob", "#general", "alice: ");
    assert_eq!(storm.turns(), LIMIT);
    storm.owner.say("#general", &format!("@co-bob go on {}", held[0]));
    storm.owner.hears("co-bob", "#general", &format!("m1 may take up to {LIMIT} more turns"));
    let told = format!("otto: m1 has used its {} turns", 2 * LIMIT);
    storm.owner.hears("co-ada", "#general", &told);
    storm.settles("the second limit");
    assert_eq!((storm.turns(), storm.told().len()), (2 * LIMIT, 2));
    let said = storm.stage.world.run(&["release", "m1"]).ok();
    assert!(said.contains("m1 may take up to 12 more turns"), "{said}");
    let told = format!("otto: m1 has used its {} turns", 3 * LIMIT);
    storm.owner.hears("co-ada", "#general", &told);
    storm.settles("the third limit");
    assert_eq!((storm.turns(), storm.told().len()), (3 * LIMIT, 3));
    // A new request has turns of its own.
    storm.owner.say("#general", "@co-cyd quiet");
    storm.owner.hears("co-cyd", "#general", "quiet it is");
}

/// `interrupt --cause` ends the open turns of all agents, cancels what waits or is held, and what
/// comes later.
#[test]
fn an_ended_cause_ends_in_every_daemon() {
    let mut storm = Storm::begins("@co-ada begin");
    storm.owner.hears("co-ada", "#general", "otto: m1 has used its");
    storm.settles("the limit");
    // Turns that stay open while the model is held.
    storm.stage.hold_model();
    let _ = storm.stage.world.run(&["release", "m1"]).ok();
    eventually("five open turns", || {
        (storm.number("SELECT count(*) FROM turns WHERE ended_at IS NULL") == 5).then_some(())
    });
    let held = storm.stage.query("SELECT 'm' || id FROM messages WHERE id = 3");
    let said = storm.stage.world.run(&["interrupt", "--cause", &held[0]]).ok();
    assert!(said.contains("m1 is ended: ") && said.contains("co-eve"), "{said}");
    eventually("all turns ended", || {
        (storm.number("SELECT count(*) FROM turns WHERE ended_at IS NULL") == 0).then_some(())
    });
    let turns = storm.turns();
    storm.stage.release_model();
    let interrupted = "SELECT count(*) FROM turns WHERE outcome LIKE 'interrupted%'";
    assert_eq!(storm.number(interrupted), 5);
    let left = "SELECT count(*) FROM messages WHERE state IN ('accepted', 'in_turn', 'held')";
    eventually("nothing left", || (storm.number(left) == 0).then_some(()));
    // Whoever is asked anew answers, and nothing of the old cause has begun meanwhile.
    storm.owner.say("#general", "@co-cyd quiet");
    storm.owner.hears("co-cyd", "#general", "quiet it is");
    assert_eq!(storm.turns(), turns + 1);
    let again = storm.stage.world.run(&["release", "m1"]);
    assert!(again.stderr.contains("m1 was ended by "), "{}", again.stderr);
}
