//! Agents that misbehave, with each kind of real program: what is whispered, when their model sees it, how
//! people are asked to decide, and how the agent comes back. The model is a script, and time is the test's.
//! Here rules alone watch; a model does in `judged`.

mod judged;
mod pair;

use std::{fs, os::unix::fs::PermissionsExt as _, time::Duration};

use gangline_testkit::{IrcPeer, eventually_seeing};

use crate::rig::{ADA, Daemon, ROOM, Real, Rig};

/// The model runs `./build` until that says `at last`, and follows no whisper.
const SCRIPT: &str = r#"
rules:
  - when: {system: 'title generator'}
    reply: [text: "a title"]
  - when: {tool: SHELL, tool_result: 'at last'}
    reply: [text: "I give up"]
  - when: {tool: SHELL}
    reply: [tool_use: {name: SHELL, input: {ARG: "./build"}}]
  - when: {user: '^\[SUPERVISOR/\w+\] [^\n]*$'}
    reply: [tool_use: {name: SHELL, input: {ARG: "./build"}}]
  - when: {user: 'build it'}
    reply: [tool_use: {name: SHELL, input: {ARG: "./build"}}]
  - when: {user: 'think about it'}
    reply: [delay_ms: 600000, text: "too late"]
  - when: {user: 'spend it'}
    reply:
      - tool_use: {name: SHELL, input: {ARG: "echo spent"}}
      - usage: {input_tokens: 20, output_tokens: 9000}
  - when: {user: 'say exactly (\w+)'}
    reply: [text: "$1"]
"#;

/// Fails four times in the same way, which is a spiral; then it waits for the test.
const BUILD: &str = r#"#!/bin/sh
tries=$(($(cat tries 2> /dev/null || echo 0) + 1))
echo $tries > tries
[ $tries -gt 4 ] || { echo no rule to make target; exit 2; }
[ ! -e go ] || { rm go tries; echo at last; exit 0; }
sleep 0.2
echo "waits, $tries"
"#;

/// What a model wrote costs a dollar for a million tokens; a budget of this is a few hundred replies.
const BUDGET: &str = "budget: {usd: 0.005, action: stop}";
const PRICES: &str = "prices: {claude-opus-5-5: {input: 0, output: 1}, gpt-5.5: {input: 0, output: 1}, first: \
                      {input: 0, output: 1}, standin: {input: 0, output: 1}}";

const FAILED: &str = "has failed 4 times with the same error. Do not try the same again";
const SILENT: &str = "Your turn has shown nothing for ";
const EARLIER: &str = "(about your earlier task)";

const WHISPERS: &str = "SELECT count(*) FROM whispers";
const FINDINGS: &str = "SELECT kind || ' ' || state FROM findings WHERE kind IN ('repeated_error', \
                        'silent_turn', 'escalation', 'budget') ORDER BY number";
const LAST: &str =
    "SELECT state || ' ' || coalesce(reason, '-') FROM messages ORDER BY id DESC LIMIT 1";

/// One agent with a real program, and two people.
struct Story {
    rig: Rig,
    real: Real,
    daemon: Daemon,
    ori: IrcPeer,
    owner: IrcPeer,
}

impl Story {
    /// Rules alone watch.
    fn begin(real: Real) -> Self {
        let (shell, argument) = real.shell();
        let script = SCRIPT.replace("SHELL", shell).replace("ARG", argument);
        let each = format!("permissions: bypass\nturn_timeout_seconds: 36000\n{BUDGET}\n");
        let rig = Rig::real(real, &script, (PRICES, &each));
        Self::of(real, rig, ("build", BUILD))
    }

    /// There is a program in the agent's folder.
    fn of(real: Real, rig: Rig, (name, program): (&str, &str)) -> Self {
        fs::write(rig.work(name), program).unwrap();
        fs::set_permissions(rig.work(name), fs::Permissions::from_mode(0o755)).unwrap();
        let daemon = rig.start();
        let (ori, owner) = (rig.member("ori"), rig.owner("boss"));
        Self { rig, real, daemon, ori, owner }
    }

    /// Returns how a whisper gets into the running turn; `None`: it does not.
    fn road(&self) -> Option<&'static str> {
        match self.real {
            Real::Claude => Some("hook"),
            Real::Codex | Real::Native => Some("steer"),
            Real::OpenCode => None,
        }
    }

    fn ask(&mut self, text: &str) {
        self.ori.say(ROOM, &format!("@lab-ada {text}"));
    }

    /// What comes while the agent is held is stored, and its author is told why.
    fn is_held(&mut self, word: &str, why: &str) {
        self.ask(&format!("say exactly {word}"));
        self.rig.sees(LAST, &["accepted -"]);
        self.rig.clock.forward(Duration::from_secs(10));
        self.ori.hears(ADA, ROOM, why);
    }

    /// A spiral in three turns: a whisper, a firmer one, an escalation. `resume` has what waits answered.
    fn spirals(&mut self) {
        for (whispers, words) in [("1", FAILED), ("2", "Warning 2"), ("3", "Still no progress")] {
            self.ask("build it");
            self.rig.sees(WHISPERS, &[whispers]);
            if let Some(road) = self.road() {
                eventually_seeing("the whisper in the running turn", || {
                    let delivered = "SELECT road || (turn_number = delivered_number) FROM whispers \
                                     ORDER BY id DESC LIMIT 1";
                    let rows = self.rig.query(delivered);
                    if rows == [format!("{road}1")] { Ok(()) } else { Err(format!("{rows:?}")) }
                });
                let seen = self.rig.request_with(words);
                assert!(!seen.contains(EARLIER), "{seen}");
            }
            fs::write(self.rig.work("go"), "").unwrap();
            self.ori.hears(ADA, ROOM, "I give up");
        }
        let status = self.daemon.dial().sees("the escalation", |it| it["escalated"] == true);
        assert_eq!(
            (&status["paused"], &status["running"]),
            (&true.into(), &true.into()),
            "{status}"
        );
        // Four calls, so three retries.
        let alert = self.rig.query("SELECT text FROM alerts WHERE event = 'agent_spiraling'");
        assert!(alert[0].contains("Retried the same approach 3 times."), "{alert:?}");
        self.is_held("pear", "I am held because I seem stuck");
        self.rig.sees(
            FINDINGS,
            &[
                "repeated_error resolved",
                "repeated_error resolved",
                "repeated_error open",
                "escalation open",
            ],
        );
        self.owner.say(ROOM, "@lab-ada resume");
        self.ori.hears(ADA, ROOM, "pear");
        if self.road().is_none() {
            let seen = self.rig.request_with("say exactly pear");
            assert!(seen.contains("Still no progress") && seen.contains(EARLIER), "{seen}");
        }
        self.daemon.dial().sees("it to be watched again", |it| it["supervisor"]["paused"] == false);
    }

    /// A turn without a sign of life: a finding, whispers that wait, an escalation. `abort` ends the turn, and
    /// the next one has what was whispered.
    fn hangs(&mut self) {
        self.ask("think about it");
        eventually_seeing("the model to think", || {
            let last = self.rig.requests().last().unwrap().to_string();
            if last.contains("think about it") { Ok(()) } else { Err(last) }
        });
        self.rig.clock.forward(Duration::from_secs(6 * 60));
        self.rig.sees("SELECT state FROM findings WHERE kind = 'silent_turn'", &["open"]);
        for (minutes, whispers) in [(5, "1"), (10, "2"), (10, "3")] {
            self.rig.clock.forward(Duration::from_secs(minutes * 60));
            self.rig.sees(
                "SELECT count(*) FROM whispers WHERE text LIKE '%shown nothing%'",
                &[whispers],
            );
        }
        self.daemon.dial().sees("the escalation", |it| it["escalated"] == true);
        self.is_held("grape", "I am held because I seem stuck");
        self.owner.say(ROOM, "@lab-ada abort");
        self.ori.hears(ADA, ROOM, "no answer: a person stopped the turn");
        self.ori.hears(ADA, ROOM, "grape");
        let seen = self.rig.request_with("say exactly grape");
        assert_eq!(seen.matches(SILENT).count(), 3, "{seen}");
        assert!(seen.contains(EARLIER), "{seen}");
        self.rig.sees(
            "SELECT DISTINCT state FROM findings WHERE kind IN ('silent_turn', 'escalation')",
            &["resolved"],
        );
    }

    /// A budget that is spent by a request is stopped at the next one; the next day the agent goes on.
    fn spends(&mut self) {
        let before = self.rig.requests().len();
        self.ask("spend it");
        self.ori.hears(ADA, ROOM, "no answer: the budget for today is spent");
        self.rig.sees(LAST, &["failed turn_failed:budget_spent"]);
        assert_eq!(self.rig.requests().len(), before + 1, "the model hears of no second request");
        self.rig.sees("SELECT state FROM findings WHERE kind = 'budget'", &["open"]);
        self.is_held("melon", "my budget is spent");
        self.rig.clock.forward(Duration::from_secs(26 * 3600));
        self.ori.hears(ADA, ROOM, "melon");
        self.rig.sees("SELECT state FROM findings WHERE kind = 'budget'", &["resolved"]);
    }
}

fn story(real: Real) {
    let mut story = Story::begin(real);
    story.spirals();
    story.hangs();
    story.spends();
    assert_eq!(story.daemon.stop().code, 0);
}

/// R0-01, R0-19, R0-23, R0-25, R0-28, R0-29, R1-02, R1-33, R1-34, R1-35, R1-56, C1, C9, C10: Claude Code sees a whisper in its running turn,
/// by the hook after a tool.
#[test]
fn claude_code_is_corrected_held_and_comes_back() {
    story(Real::Claude);
}

/// As before: Codex sees a whisper in its running turn, behind a tool's result.
#[test]
fn codex_is_corrected_held_and_comes_back() {
    story(Real::Codex);
}

/// As before: OpenCode sees a whisper before its next prompt. That a command failed, its exit code tells.
#[test]
fn opencode_is_corrected_held_and_comes_back() {
    story(Real::OpenCode);
}

/// As before: the native loop sees a whisper in its running turn, behind a tool's result.
#[test]
fn the_native_loop_is_corrected_held_and_comes_back() {
    story(Real::Native);
}
