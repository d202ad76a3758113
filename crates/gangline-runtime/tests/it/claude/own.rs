//! What is the program's own stays: its instructions, skills and subagents. And the oldest release that
//! is accepted does what is needed.

use std::fs;

use gangline_runtime::{Answer, Permissions, StopReason, TurnResult};
use gangline_testkit::programs;

use super::rig::Rig;

const SCRIPT: &str = r#"
rules:
  - when: {tool: Bash}
    reply: [text: "it said: ${tool_result}"]
  - when: {user: 'run (.+)'}
    reply: [tool_use: {name: Bash, input: {command: "$1", description: "x"}}]
  - when: {user: 'for ever'}
    reply: [{delay_ms: 600000}, {text: "never"}]
  - reply: [text: "turn ${turn}: ${user}"]
"#;

fn write(rig: &Rig, path: &str, text: &str) {
    let path = rig.path(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// R1-05: the real program keeps its tools, its subagents, the instructions of its home and of its
/// folder, and its own skills: its request to the model has all of them. A skill of the folder is not there.
#[tokio::test]
async fn its_instructions_skills_and_subagents_stay() {
    let mut rig = Rig::claude(SCRIPT).await;
    write(&rig, "home/.claude/CLAUDE.md", "Rule of the home: say plum.\n");
    write(&rig, "work/CLAUDE.md", "Rule of the folder: say quince.\n");
    let skill =
        |name: &str, about: &str| format!("---\nname: {name}\ndescription: {about}\n---\nDo.\n");
    let of_home = skill("home-skill", "Peels every pear of the house");
    write(&rig, "home/.claude/skills/home-skill/SKILL.md", &of_home);
    let of_folder = skill("folder-skill", "Counts every fig of the folder");
    write(&rig, "work/.claude/skills/folder-skill/SKILL.md", &of_folder);
    let agent = "---\nname: orchard-hand\ndescription: Looks after the orchard\n---\nKeep it.\n";
    write(&rig, "home/.claude/agents/orchard-hand.md", agent);
    rig.start().await;
    assert!(rig.ask(1, "hello").await.text().starts_with("turn 1: hello"));
    let asked = rig.requests().join("\n");
    for own in [
        "Rule of the home: say plum",
        "Rule of the folder: say quince",
        "Peels every pear of the house",
        "orchard-hand",
        "Looks after the orchard",
    ] {
        assert!(asked.contains(own), "{own} is not in its request");
    }
    let folders = "Counts every fig of the folder";
    assert!(!asked.contains(folders), "nobody has allowed what the folder brings along");
    let last: serde_json::Value =
        serde_json::from_str(rig.requests().iter().find(|it| it.contains("plum")).unwrap())
            .unwrap();
    let body = last.get("body").unwrap_or(&last);
    let tools: Vec<&str> =
        body["tools"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    for tool in ["Bash", "Edit", "Read", "Skill", "Write"] {
        assert!(tools.contains(&tool), "{tool}: {tools:?}");
    }
    assert!(tools.iter().any(|it| ["Task", "Agent"].contains(it)), "{tools:?}");
}

/// R0-02: the oldest release that is accepted is driven as the tested one: it asks before it runs, is
/// interrupted, and goes on with its session.
#[tokio::test]
async fn the_oldest_accepted_release_does_what_is_needed() {
    let mut rig = Rig::claude(SCRIPT).await;
    rig.options.command = Some(vec![programs::claude_oldest().display().to_string()]);
    rig.options.permissions = Permissions::Ask;
    let session = rig.start().await;
    let (done, asks) = rig.decided(1, "run touch made; echo ran", Answer::Allow).await;
    assert_eq!((asks.len(), asks[0].tool.as_str()), (1, "Bash"), "{done:?}");
    assert!(done.text().contains("it said: ran") && rig.path("work/made").exists(), "{done:?}");
    rig.say(2, "for ever").await;
    rig.until(|event| matches!(event, gangline_runtime::RuntimeEvent::Accepted { .. })).await;
    rig.runtime.interrupt().await.unwrap();
    assert_eq!(*rig.done().await.result(), TurnResult::Interrupted);
    assert!(rig.ask(3, "still there").await.text().contains("still there"));
    rig.runtime.stop(StopReason::Restart).await;
    rig.rest().await;
    rig.options.resume = Some(session.clone());
    assert_eq!(rig.start().await, session);
    assert!(rig.ask(4, "again").await.text().contains("again"));
}
