//! What rules cannot see of an agent: drift, stalling and shallow decisions. A native model watches each kind
//! of real program; all three happen in one life of the program, one after the other.

use std::fs;

use gangline_testkit::eventually_seeing;

use super::{EARLIER, LAST, Story};
use crate::rig::{ADA, ROOM, Real, Rig};

/// What is wrong with an agent, and what follows.
struct Trouble {
    task: &'static str,
    /// What it does instead, and what it says then.
    act: &'static str,
    said: &'static str,
    /// What its supervisor says.
    verdict: &'static str,
    text: &'static str,
    /// The row of the escalation's alert.
    alert: &'static str,
}

const TROUBLES: [Trouble; 3] = [
    Trouble {
        task: "fix the parser",
        act: "draw a logo",
        said: "The logo is nicer now",
        verdict: "CORRECTION",
        text: "DRIFT: nobody asked for a logo",
        alert: "SELECT count(*) FROM alerts WHERE event = 'agent_spiraling' AND room_text LIKE \
                '%Cause: DRIFT: nobody asked for a logo. %' AND text NOT LIKE '%Retried%'",
    },
    Trouble {
        task: "publish the release",
        act: "make a plan",
        said: "I will publish it soon",
        verdict: "CORRECTION",
        text: "STALLING: a plan publishes nothing",
        alert: "SELECT count(*) FROM alerts WHERE event = 'agent_spiraling' AND room_text LIKE \
                '%Cause: STALLING: a plan publishes nothing. %' AND text NOT LIKE '%Retried%'",
    },
    Trouble {
        task: "choose a format",
        act: "take the first",
        said: "I take the first one",
        verdict: "THINK_DEEPER",
        text: "SHALLOW: compare two before you choose",
        alert: "SELECT count(*) FROM alerts WHERE event = 'agent_spiraling' AND room_text LIKE \
                '%Cause: SHALLOW: compare two before you choose. %' AND text NOT LIKE '%Retried%'",
    },
];

/// The agent's model does something else, and follows no whisper. It acts again as long as the test waits.
const SCRIPT: &str = r#"
rules:
  - when: {system: 'title generator'}
    reply: [text: "a title"]
  - when: {tool: SHELL, tool_result: 'not yet'}
    reply: [tool_use: {name: SHELL, input: {ARG: "./act again"}}]
  - when: {user: '^\[SUPERVISOR/\w+\] [^\n]*$'}
    reply: [tool_use: {name: SHELL, input: {ARG: "./act again"}}]
  - when: {user: 'say exactly (\w+)'}
    reply: [text: "$1"]
"#;

/// Does what its arguments say; `again` repeats the last order. While the test holds it, it does nothing: it asks
/// to be called again, or stays until the test lets it go.
const ACT: &str = "#!/bin/sh
[ \"$*\" = again ] || echo \"$*\" > act-now
echo >> acts
while grep -qs stay wait; do sleep 0.1; done
[ ! -e wait ] || { sleep 0.2; echo not yet: $(wc -l < acts); exit; }
echo did: $(cat act-now)
";

const WHISPERS: &str = "SELECT count(*) FROM whispers";
/// How the latest three were delivered, and how many turns after the one that they are about.
const ROADS: &str = "SELECT coalesce(road, 'waits') || ' ' || coalesce(delivered_number - turn_number, '') \
                     FROM (SELECT * FROM whispers ORDER BY id DESC LIMIT 3) ORDER BY id";
const VERDICTS: &str = "SELECT group_concat(json_extract(payload, '$.verdict'), ' ') FROM events \
                        WHERE kind = 'verdict'";
const ESCALATIONS: &str = "SELECT state FROM findings WHERE kind = 'escalation' ORDER BY number";
const SPENT: &str =
    "SELECT count(*) = 12 AND sum(output) > 0 FROM usage WHERE spender = 'supervisor'";

/// Returns the rules of the agent's model.
fn agent(real: Real) -> String {
    let rule = |Trouble { task, act, said, .. }: &Trouble| {
        format!(
            "  - when: {{tool: SHELL, tool_result: 'did: {act}'}}\n    reply: [text: '{said}']\n  - when: \
             {{user: '{task}'}}\n    reply: [tool_use: {{name: SHELL, input: {{ARG: './act {act}'}}}}]\n"
        )
    };
    let rules: String = TROUBLES.iter().map(rule).collect();
    let (shell, argument) = real.shell();
    format!("{SCRIPT}{rules}").replace("SHELL", shell).replace("ARG", argument)
}

/// Returns the rules of the supervisor's model, which looks at the latest task and what is done about it.
fn supervisor() -> String {
    let rule = |Trouble { task, act, verdict, text, .. }: &Trouble| {
        format!(
            "  - when: {{user: '(?s)\\nTask:\\n\\| [^\\n]*{task}.*\\nresult\\n\\| did: {act}'}}\n    \
             reply: [text: '{verdict} {text}']\n"
        )
    };
    let rules: String = TROUBLES.iter().map(rule).collect();
    format!("rules:\n{rules}  - reply: [text: OK]\n")
}

impl Story {
    fn judged(real: Real) -> Self {
        let keys = ("eval_interval: 1", "permissions: bypass\nturn_timeout_seconds: 36000\n");
        let rig = Rig::watched((real, &agent(real)), (Real::Native, &supervisor()), keys);
        Self::of(real, rig, ("act", ACT))
    }

    /// Waits until `count` whispers are stored and the loop knows of the `waiting` ones, which will come before the
    /// next prompt.
    fn is_whispered_to(&mut self, count: usize, waiting: usize) {
        self.rig.sees(WHISPERS, &[&count.to_string()]);
        self.daemon.dial().sees("the whispers that wait", |it| it["whispers"] == waiting);
    }

    /// Three turns, each of which is judged: a whisper, which comes while the second turn runs, a firmer one,
    /// and an escalation.
    fn goes_wrong(&mut self, before: usize) {
        let Trouble { task, act, said, verdict, text, .. } = &TROUBLES[before];
        let first = format!("[SUPERVISOR/{verdict}] {text} {EARLIER}");
        let whispers = 3 * before;
        let is_running = self.road().is_some();

        let judge = self.rig.hold_judge();
        self.ask(&format!("{task} now"));
        self.ori.hears(ADA, ROOM, said);
        let acts = self.rig.lines("acts").len();
        // Where a whisper gets into a running turn, it does so after a call.
        let how = if is_running { "call again" } else { "stay" };
        fs::write(self.rig.work("wait"), how).unwrap();
        self.ask(&format!("{task}, finally"));
        eventually_seeing("the second turn to be at work", || {
            let now = self.rig.lines("acts").len();
            if now > acts { Ok(()) } else { Err(now.to_string()) }
        });
        drop(judge);
        match self.road() {
            None => self.is_whispered_to(whispers + 1, 1),
            Some(road) => eventually_seeing("the whisper in the running turn", || {
                let (count, roads) = (self.rig.query(WHISPERS), self.rig.query(ROADS));
                let is_here = roads.last().is_some_and(|it| *it == format!("{road} 1"));
                let is_next = count == [(whispers + 1).to_string()];
                if is_here && is_next { Ok(()) } else { Err(format!("{count:?} {roads:?}")) }
            }),
        }
        fs::remove_file(self.rig.work("wait")).unwrap();
        self.ori.hears(ADA, ROOM, said);
        self.is_whispered_to(whispers + 2, if is_running { 1 } else { 2 });
        self.ask(&format!("{task}, please"));
        self.ori.hears(ADA, ROOM, said);
        self.daemon.dial().sees("the escalation", |it| it["escalated"] == true);
        self.is_whispered_to(whispers + 3, 1);

        // When the model saw what: the first request that has it.
        let seen = self.rig.request_with(&first);
        assert_eq!(seen.contains(&format!("{task}, please")), !is_running, "{seen}");
        assert!(seen.contains(&format!("{task}, finally")), "{seen}");
        let firmer = format!(
            "[SUPERVISOR/{verdict}] Warning 2, and the trouble goes on. {text}. If nothing changes now, people \
             are alerted. {EARLIER}"
        );
        assert!(self.rig.request_with(&firmer).contains(&format!("{task}, please")));
        self.showed(act, said);
        self.is_resumed(before);
    }

    /// What comes after the escalation is held, and answered after `resume`. Everything is judged anew then.
    fn is_resumed(&mut self, before: usize) {
        let Trouble { task, text, alert, .. } = &TROUBLES[before];
        self.rig.sees(alert, &["1"]);
        self.is_held("pear", "I am held because I seem stuck");
        let states = [&["resolved"; 2][..before], &["open"]].concat();
        self.rig.sees(ESCALATIONS, &states);
        self.owner.say(ROOM, "@lab-ada resume");
        self.ori.hears(ADA, ROOM, "pear");
        let last = format!(
            "[SUPERVISOR/ESCALATION] Still no progress: people are alerted. {text} {EARLIER}"
        );
        assert!(self.rig.request_with(&last).contains("say exactly pear"));
        self.rig.sees(LAST, &["answered -"]);
        let road = self.road().map_or("prompt 2".to_owned(), |road| format!("{road} 1"));
        self.rig.sees(ROADS, &[&road, "prompt 1", "prompt 1"]);
        self.rig.sees(ESCALATIONS, &["resolved"; 3][..=before]);
        self.daemon.dial().sees("it to be watched again", |it| it["supervisor"]["paused"] == false);
        // The turn about the pear is fine, and nothing of what was before is judged again.
        let verdicts = |it: &Trouble| [it.verdict; 3].join(" ") + " OK";
        let verdicts: Vec<String> = TROUBLES[..=before].iter().map(verdicts).collect();
        self.rig.sees(VERDICTS, &[&verdicts.join(" ")]);
        let judged = self.rig.judged().pop().unwrap().to_string();
        assert!(judged.contains("pear") && !judged.contains(task), "{judged}");
    }

    /// The supervisor's model was shown the same of every program, whatever its tools are called there, and was
    /// offered no tool.
    fn showed(&self, act: &str, said: &str) {
        let judged = self.rig.judged();
        let last = judged.last().unwrap();
        assert!(last["tools"].as_array().is_none_or(Vec::is_empty), "{last}");
        let text = last["messages"][0]["content"][0]["text"].as_str().unwrap();
        let (_, turn) = text.rsplit_once("\nTurn ").unwrap();
        // OpenCode's call names the folder, too.
        let call = format!(":\ncalled Bash\n| {{\"command\":\"./act {act}\"");
        let end =
            format!("}}\nresult\n| did: {act}\nsaid\n| {said}\n\nEnd of the turns. Reply with ");
        assert!(turn.contains(&call) && turn.contains(&end), "{text}");
    }
}

fn story(real: Real) {
    let mut story = Story::judged(real);
    for before in 0..TROUBLES.len() {
        story.goes_wrong(before);
    }
    story.rig.sees(SPENT, &["1"]);
    assert_eq!(story.daemon.stop().code, 0);
}

/// R0-25, R0-26, R0-27, R0-28, R0-32, R0-34, R1-06, R1-34, R1-35, R1-36, C10: a native model that watches Claude
/// Code names what is wrong. A whisper about a turn that is over says so, also in a later turn that runs.
#[test]
fn claude_code_is_watched_and_corrected_by_a_native_model() {
    story(Real::Claude);
}

/// As before: Codex.
#[test]
fn codex_is_watched_and_corrected_by_a_native_model() {
    story(Real::Codex);
}

/// As before: OpenCode, which sees every whisper before its next prompt.
#[test]
fn opencode_is_watched_and_corrected_by_a_native_model() {
    story(Real::OpenCode);
}

/// As before: the native loop, watched by another one.
#[test]
fn the_native_loop_is_watched_and_corrected_by_another() {
    story(Real::Native);
}
