//! Files of somebody else's making: whatever stands in them, every built-in backend stays.

use std::path::Path;

use proptest::prelude::*;

use super::{Home, OURS, SEEDS, TOWN, TOWN_SAYS};
use crate::registry::{ENTRIES, edit};

fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        "[a-z/~. ]{0,8}|\\PC{0,4}".prop_map(|text| serde_json::to_string(&text).unwrap()),
    ];
    let keys = prop_oneof![
        proptest::sample::select(vec![
            "default",
            "runtimes",
            "agents",
            "version",
            "bin",
            "command",
            "args",
            "env",
            "adapter",
            "delivery",
            "ready",
            "ready_delay_ms",
            "ready_prompt_prefix",
            "acp",
            "mode",
            "claude",
            "x",
            "role_agents",
            "default_agent",
            "runtime",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,5}",
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        let key = keys.clone().prop_map(|key| serde_json::to_string(&key).unwrap());
        let member = (key, inner.clone()).prop_map(|(key, value)| format!("{key}: {value}"));
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(",\n"))),
            prop::collection::vec(member, 0..6)
                .prop_map(|items| format!("{{{}}}", items.join(",\n"))),
        ]
    })
}

/// A project's file is somebody else's: one with a great many faults is told shortly, and soon.
#[test]
fn a_file_of_nothing_but_faults_is_told_shortly() {
    for (member, told) in [("\"x\": 0", "appears twice"), ("\"aN\": 0", "not used")] {
        let home = Home::new(&[]);
        let members: Vec<String> =
            (0..60_000).map(|n| member.replace('N', &n.to_string())).collect();
        home.write(OURS, &format!("{{{}}}", members.join(",\n")));
        let registry = home.registry();
        let all: Vec<_> = registry.problems().iter().chain(registry.ignored()).collect();
        assert!((20..=21).contains(&all.len()), "{}", all.len());
        assert!(all.iter().any(|it| it.message.contains(told)), "{:?}", all[0]);
        assert!(all.iter().any(|it| it.message.contains("more like it")), "{:?}", all.last());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Whatever stands in the files, it is read or told, and every built-in backend stays.
    #[test]
    fn no_text_ends_us_or_takes_a_built_in_backend_away(
        text in prop_oneof![json(), "\\PC{0,60}", "[{}\\[\\]\":, a\\\\u]{0,40}"],
    ) {
        let home = Home::new(&[]);
        for path in [OURS, SEEDS, TOWN, TOWN_SAYS, "gt/a/settings/agents.json", "gt/a/.gangline/runtime.json"] {
            home.write(path, &text);
        }
        let registry = home.registry().at(&home.path().join("gt/a"));
        for entry in ENTRIES {
            prop_assert!(registry.find(entry.name).is_ok(), "{}", entry.name);
        }
        for found in registry.list() {
            prop_assert!(registry.names().contains(&found.name));
        }
        let _ = registry.default(Some("crew"));
        for problem in registry.problems().iter().chain(registry.ignored()) {
            prop_assert!(!problem.to_string().contains('\n'), "{problem}");
        }
    }

    /// R3-16: a file with another default says that default, and all else as before.
    #[test]
    fn a_file_with_another_default_says_the_same_otherwise(text in json()) {
        let Ok(edited) = edit::with_default(Path::new("/c"), &text, "kiro") else { return Ok(()) };
        let before: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut wanted = before.clone();
        wanted["default"] = "kiro".into();
        let after: serde_json::Value = serde_json::from_str(&edited).unwrap();
        prop_assert_eq!(after, wanted);
    }
}
