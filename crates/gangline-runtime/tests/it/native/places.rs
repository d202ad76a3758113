//! What was judged is what is used, though links change meanwhile.

use std::{fs, os::unix::fs::symlink, path::Path};

use gangline_runtime::{Answer, ApprovalReply, Permissions, Prompt, RuntimeEvent};

use super::{Rig, texts, turn};

const SCRIPT: &str = "
rules:
  - when: {tool_result: '.*'}
    reply: [text: 'it said: ${tool_result}']
  - when: {user: 'read (.+) now'}
    reply: [tool_use: {name: Read, input: {file_path: $1}}]
  - when: {user: 'write (.+) now'}
    reply: [tool_use: {name: Write, input: {file_path: $1, content: new}}]
  - when: {user: 'edit (.+) now'}
    reply: [tool_use: {name: Edit, input: {file_path: $1, old_string: theirs, new_string: new}}]
  - reply: [text: hello]
";

/// Gives a prompt whose tool call is asked about, has something done before the answer, allows the
/// call, and returns what the model said last.
async fn allowed(rig: &mut Rig, number: i64, text: &str, meanwhile: impl FnOnce()) -> String {
    let prompt = Prompt { turn: turn(number), text: text.to_owned(), uuid: format!("p{number}") };
    rig.runtime.prompt(prompt).await.unwrap();
    let asked = rig.until(|event| matches!(event, RuntimeEvent::ApprovalAsked { .. })).await;
    let Some(RuntimeEvent::ApprovalAsked { ask, .. }) = asked.last() else { panic!() };
    meanwhile();
    let reply = ApprovalReply { request: ask.request.clone(), answer: Answer::Allow };
    rig.runtime.decide(reply).await.unwrap();
    texts(&rig.until_finished().await)
}

/// C5: a folder or file that becomes a link between the question and the answer leads nowhere.
#[tokio::test]
async fn a_link_that_appears_after_the_question_is_not_followed() {
    let elsewhere = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(elsewhere.path()).unwrap();
    let (mut rig, _called) = Rig::scripted(Permissions::Ask, Some(SCRIPT)).await;
    rig.start().await;
    for (number, tool) in [(1, "read"), (4, "write"), (7, "edit")] {
        let shown = root.join(tool);
        let theirs = root.join(format!("{tool}-theirs"));
        for folder in [&shown, &theirs] {
            fs::create_dir(folder).unwrap();
        }
        fs::write(shown.join("a"), "theirs to show").unwrap();
        fs::write(theirs.join("a"), "theirs alone").unwrap();
        let text = format!("{tool} {} now", shown.join("a").display());
        let plain = allowed(&mut rig, number, &text, || {}).await;
        assert!(plain.starts_with("it said: "), "{tool}: {plain}");
        fs::write(shown.join("a"), "theirs to show").unwrap();

        let swap = |from: &Path, to: &Path| {
            fs::rename(from, from.with_extension("old")).unwrap();
            symlink(to, from).unwrap();
        };
        let file = shown.join("a");
        let said = allowed(&mut rig, number + 1, &text, || swap(&file, &theirs.join("a"))).await;
        assert!(!said.contains("alone"), "{tool}: {said}");
        let left = fs::read_to_string(theirs.join("a")).unwrap();
        assert_eq!(left, "theirs alone", "{tool} through a file");

        fs::remove_file(&file).unwrap();
        fs::write(&file, "theirs to show").unwrap();
        let said = allowed(&mut rig, number + 2, &text, || swap(&shown, &theirs)).await;
        assert!(!said.contains("alone"), "{tool}: {said}");
        let left = fs::read_to_string(theirs.join("a")).unwrap();
        assert_eq!(left, "theirs alone", "{tool} through a folder");
    }
}
