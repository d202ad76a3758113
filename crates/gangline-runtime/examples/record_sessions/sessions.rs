//! The sessions: what is asked, and what the model does, in the words of each program's tools.

use std::time::Duration;

use serde_json::{Value, json};

/// A program that is recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Program {
    Claude,
    Codex,
    OpenCode,
    Native,
}

/// One session.
pub(crate) struct Scene {
    pub(crate) name: &'static str,
    pub(crate) prompts: Vec<String>,
    /// The stand-in's script.
    pub(crate) script: Value,
    /// When the turn is interrupted; it does not end before.
    pub(crate) interrupted_after: Option<Duration>,
}

/// What is in the folder of every session.
pub(crate) const FILES: &[(&str, &str)] = &[
    ("value.txt", "have 0\n"),
    ("config.txt", "port 6667\n"),
    ("notes.md", "The value has to be 4.\n"),
    // Right once the value is.
    (
        "check.sh",
        "have=$(cut -d' ' -f2 value.txt)\n[ \"$have\" = 4 ] && echo passed && exit\necho \"want 4, have $have\"; exit 1\n",
    ),
    // Says something new each time.
    (
        "poll.sh",
        "n=$(($(cat .polls 2>/dev/null || echo 0) + 1)); echo $n > .polls; echo \"step $n of 8\"\n",
    ),
    // Works at the third time.
    (
        "fetch.sh",
        "n=$(($(cat .tries 2>/dev/null || echo 0) + 1)); echo $n > .tries\n[ $n -gt 2 ] && echo fetched && exit\necho 'could not resolve host index.example'; exit 6\n",
    ),
    ("build.sh", "echo 'no rule to make target all'; exit 2\n"),
    ("push.sh", "echo 'permission denied: could not read from the remote repository'; exit 128\n"),
];

impl Program {
    pub(crate) fn of(name: &str) -> Option<Self> {
        let all = [Self::Claude, Self::Codex, Self::OpenCode, Self::Native];
        all.into_iter().find(|program| program.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::OpenCode => "opencode",
            Self::Native => "native",
        }
    }

    fn sh(self, command: &str) -> Value {
        let (name, input) = match self {
            Self::Claude | Self::Native => ("Bash", json!({"command": command})),
            Self::Codex => ("exec_command", json!({"cmd": command})),
            Self::OpenCode => ("bash", json!({"command": command, "description": "a command"})),
        };
        json!({"tool_use": {"name": name, "input": input}})
    }

    /// Codex reads by a command.
    fn read(self, file: &str) -> Value {
        let path = format!("/lab/work/{file}");
        match self {
            Self::Claude | Self::Native => {
                json!({"tool_use": {"name": "Read", "input": {"file_path": path}}})
            }
            Self::Codex => self.sh(&format!("cat {file}")),
            Self::OpenCode => json!({"tool_use": {"name": "read", "input": {"filePath": path}}}),
        }
    }

    fn edit(self, file: &str, old: &str, new: &str) -> Value {
        let path = format!("/lab/work/{file}");
        match self {
            Self::Claude | Self::Native => json!({"tool_use": {"name": "Edit", "input":
                {"file_path": path, "old_string": old, "new_string": new}}}),
            Self::Codex => json!({"tool_use": {"name": "apply_patch", "input": format!(
                "*** Begin Patch\n*** Update File: {file}\n@@\n-{old}\n+{new}\n*** End Patch\n"
            )}}),
            Self::OpenCode => json!({"tool_use": {"name": "edit", "input":
                {"filePath": path, "oldString": old, "newString": new}}}),
        }
    }

    /// The value goes from one number to another.
    fn value(self, from: u32, to: u32) -> Value {
        self.edit("value.txt", &format!("have {from}"), &format!("have {to}"))
    }
}

fn say(text: &str) -> Value {
    json!({"text": text})
}

/// Makes a session of turns: each is a prompt and the model's replies to it, the last one without a call.
fn scene(name: &'static str, turns: Vec<(&str, Vec<Vec<Value>>)>) -> Scene {
    let title = json!({"when": {"system": "title generator"}, "reply": [{"text": "a title"}]});
    let replies = turns.iter().flat_map(|(_, replies)| replies).zip(1..);
    let rules = replies.map(|(reply, turn)| json!({"when": {"turn": turn}, "reply": reply}));
    let rules: Vec<Value> = std::iter::once(title).chain(rules).collect();
    let prompts = turns.iter().map(|(prompt, _)| (*prompt).to_owned()).collect();
    Scene { name, prompts, script: json!({"rules": rules}), interrupted_after: None }
}

/// Returns one reply for each step, and a last one that says `done`.
fn each(steps: impl IntoIterator<Item = Value>, done: &str) -> Vec<Vec<Value>> {
    steps.into_iter().map(|step| vec![step]).chain([vec![say(done)]]).collect()
}

pub(crate) fn scenes(program: Program) -> Vec<Scene> {
    let mut all = well_behaved(program);
    all.extend(misbehaving(program));
    all.extend(judged(program));
    all
}

fn well_behaved(p: Program) -> Vec<Scene> {
    let check = || p.sh("sh check.sh");
    vec![
        scene(
            "questions are answered",
            vec![
                ("what is a mutex?", each([], "A lock that one thread holds at a time.")),
                ("and a semaphore?", each([], "A lock that several may hold.")),
                ("thanks", each([], "You are welcome.")),
            ],
        ),
        scene(
            "files are read and explained",
            vec![(
                "how does the check work?",
                vec![
                    vec![say("I will look."), p.read("check.sh"), p.read("value.txt")],
                    vec![p.sh("grep -rn nothing-like-this notes.md")],
                    vec![p.read("notes.md")],
                    vec![say("It compares the value with 4.")],
                ],
            )],
        ),
        scene("the check fails until the value is right", {
            let tries = (0..4).flat_map(|n| [p.value(n, n + 1), check()]);
            let steps = [p.read("value.txt"), check()].into_iter().chain(tries);
            vec![("make the check pass", each(steps, "It passes."))]
        }),
        scene("a deployment is polled", {
            let polls = (0..8).map(|_| p.sh("sh poll.sh"));
            vec![("tell me when it is deployed", each(polls, "It is deployed."))]
        }),
        scene("the state is looked at after every edit", {
            let edits = (0..6).flat_map(|n| [p.value(n, n + 1), p.sh("ls value.txt")]);
            let steps = std::iter::once(p.read("value.txt")).chain(edits);
            vec![("count up to six", each(steps, "Six."))]
        }),
        scene("a network fails twice", {
            let steps = (0..3).map(|_| p.sh("sh fetch.sh"));
            vec![("fetch the index", each(steps, "Fetched."))]
        }),
        scene("a change is tried without and with", {
            let steps = [
                p.read("value.txt"),
                p.value(0, 4),
                check(),
                p.value(4, 0),
                check(),
                p.value(0, 4),
                check(),
            ];
            vec![("does the value matter?", each(steps, "It does."))]
        }),
        scene("a search finds nothing in many places", {
            let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
            let steps = words.map(|word| p.sh(&format!("grep -n {word} notes.md")));
            vec![("who mentions a Greek letter?", each(steps, "Nobody."))]
        }),
    ]
}

fn misbehaving(p: Program) -> Vec<Scene> {
    let times = |step: Value, times: usize| std::iter::repeat_n(step, times);
    let build = || p.sh("sh build.sh");
    let mut hang = scene(
        "hang",
        vec![("think about it", vec![vec![json!({"delay_ms": 3_600_000}), say("too late")]])],
    );
    hang.interrupted_after = Some(Duration::from_secs(11 * 60));
    vec![
        scene("the same call, again and again", {
            vec![("which port?", each(times(p.read("config.txt"), 11), "6667."))]
        }),
        scene("the same failing command, again and again", {
            vec![("build it", each(times(build(), 8), "It does not build."))]
        }),
        scene("edits that undo each other", {
            let steps = (0..5).flat_map(|_| [p.value(0, 1), p.value(1, 0)]);
            let steps = std::iter::once(p.read("value.txt")).chain(steps);
            vec![("which value is right?", each(steps, "I cannot say."))]
        }),
        scene("many ways to one refusal", {
            let steps = (0..10).map(|n| p.sh(&format!("sh push.sh --way {n}")));
            vec![("push it", each(steps, "I may not."))]
        }),
        scene("a spiral in three turns", {
            let turn = || each(times(build(), 4), "It does not build.");
            vec![("build it", turn()), ("build it", turn()), ("build it", turn())]
        }),
        hang,
    ]
}

/// Trouble that only a model can see: five turns of each.
fn judged(p: Program) -> Vec<Scene> {
    vec![
        scene("drift", {
            let logo =
                |n: u32| each([p.sh(&format!("echo shape-{n} > logo-{n}.txt"))], "A new logo.");
            (0..5).map(|n| ("mend the value", logo(n))).collect()
        }),
        scene("stalling", {
            (0..5).map(|_| ("mend the value", each([], "I will look into it soon."))).collect()
        }),
        scene("shallow", {
            let choose = |n: u32| each([p.sh(&format!("echo {n} > decision.txt"))], "Decided.");
            (0..5).map(|n| ("which value is right? Find out why", choose(n))).collect()
        }),
    ]
}
