use std::{collections::BTreeSet, path::Path};

use gangline_config::Environment;
use gangline_runtime::registry::{Places, Registry};

use super::*;

fn loaded(agents: &[(&str, &str, &Path)]) -> Loaded {
    let registry = Registry::load(&Places::default());
    let mut yaml = "server: {name: oak}\nagents:\n".to_owned();
    for (nick, backend, folder) in agents {
        let folder = folder.display();
        yaml.push_str(&format!("  - {{nick: {nick}, agent: {backend}, directory: '{folder}'}}\n"));
    }
    let names = |_: Option<&Path>| registry.names();
    let none = Environment::default();
    let config = gangline_config::parse_known(&yaml, "agents.yaml", &names, &none).unwrap();
    Loaded {
        config,
        file: "/c/agents.yaml".into(),
        registry,
        unread: BTreeSet::new(),
        marks: Default::default(),
    }
}

fn nicks(unfit: &[Unfit]) -> Vec<&str> {
    unfit.iter().map(|unfit| unfit.agent.as_str()).collect()
}

/// R1-49: a bad folder, a missing key or a missing program is the trouble of one agent.
#[test]
fn agents_that_cannot_run_are_named_and_stop_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let nowhere = here.join("nowhere");
    let all = [
        ("oak-ada", "claude", here),
        ("oak-bob", "claude", nowhere.as_path()),
        ("oak-cleo", "native", here),
        ("oak-dora", "tmux", here),
    ];
    let some = loaded(&all);
    assert_eq!(nicks(&some.unfit(&Ordered::new())), ["oak-bob", "oak-cleo", "oak-dora"]);
    assert_eq!(nicks(&some.can_run(&Ordered::new()).unwrap()), ["oak-bob", "oak-cleo", "oak-dora"]);
    let ordered = Ordered::from([
        ("oak-bob".parse().unwrap(), "codex".to_owned()),
        ("oak-cleo".parse().unwrap(), "codex".to_owned()),
    ]);
    let left = some.unfit(&ordered);
    assert_eq!(nicks(&left), ["oak-bob", "oak-dora"], "another backend needs its folder, too");
    let none = loaded(&all[1..]);
    assert!(none.can_run(&Ordered::new()).is_err(), "a hub for nobody is not started");
    assert!(loaded(&all[..1]).can_run(&Ordered::new()).unwrap().is_empty());
}

#[test]
fn agents_in_one_folder_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let (here, other) = (folder.path(), folder.path().join("other"));
    std::fs::create_dir(&other).unwrap();
    let same = folder.path().join("other/..");
    let all = [("oak-ada", "claude", here), ("oak-bob", "codex", other.as_path())];
    assert_eq!(loaded(&all).shared_folders(), [] as [&str; 0]);
    let told = loaded(&[all[0], all[1], ("oak-cleo", "codex", &same)]).shared_folders();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("oak-ada and oak-cleo work in the same directory"), "{told:?}");
    assert!(told[0].contains("git worktree add"), "{told:?}");
    let told = loaded(&[all[0], ("oak-bob", "codex", &same), ("oak-cleo", "codex", &same)]);
    let told = told.shared_folders().concat();
    assert!(told.starts_with("oak-ada, oak-bob and oak-cleo work in the same"), "{told}");
}
