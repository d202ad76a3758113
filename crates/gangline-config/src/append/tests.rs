use super::{AppendError, entry, with_agent};
use crate::parse;

const TEXT: &str = "\
# ours
server:
  name: oak
agents:
  # the boss
  - nick: oak-boss
    directory: /src   # here
    role: manager
    permissions: allowlist
    env: {A: b}
    tags: [chief]

  # - nick: oak-idle
turns_per_cause: 9
";

/// R2-35: the new agent has what its template has, but is no manager; all else stays as it was.
#[test]
fn a_new_agent_stands_behind_the_last_one_and_nothing_else_changes() {
    let boss = &parse(TEXT, "t").unwrap().agents[0];
    let lines = entry(&"oak-bob".parse().unwrap(), boss);
    let text = with_agent(TEXT, &lines).unwrap();
    let added = "    tags: [chief]\n  - nick: oak-bob\n    directory: /src\n    env: \
                 {\"A\":\"b\"}\n    permissions: \"allowlist\"\n\n  # - nick: oak-idle\n";
    assert!(text.contains(added), "{text}");
    assert_eq!(text.lines().count(), TEXT.lines().count() + 4);
    assert!(matches!(with_agent(&text, &lines), Err(AppendError::Refused(_))));
}

#[test]
fn lists_of_every_form_are_added_to_or_refused() {
    let lines = vec!["nick: oak-bob".to_owned(), "directory: /".to_owned()];
    let takes = |agents: &str| {
        let text = format!("server: {{name: oak}}\n{agents}");
        with_agent(&text, &lines).map(|text| parse(&text, "t").unwrap().agents.len())
    };
    assert_eq!(takes("agents: []   # none yet\n").unwrap(), 1);
    assert_eq!(takes("agents:\n- nick: oak-a\n  directory: /\n").unwrap(), 2);
    assert_eq!(takes("agents:\n    - nick: oak-a\n      directory: /").unwrap(), 2);
    let refused = takes("agents: [{nick: oak-a, directory: /}]\n");
    assert!(matches!(refused, Err(AppendError::Form)), "{refused:?}");
}
