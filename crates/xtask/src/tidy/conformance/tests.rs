use super::proofs::Proofs;
use super::{check, ids, with_proofs};
use crate::tidy::{Tree, repo_of};

/// A table with a row for each id; those of `rows` replace the plain ones.
fn table(rows: &[&str]) -> String {
    let mut text =
        String::from("# Conformance\n\n| id | what | state | proof |\n|---|---|---|---|\n");
    for id in ids::all() {
        let begin = format!("| {id} |");
        let own = rows.iter().find(|row| row.starts_with(&begin));
        let plain = format!("{begin} something | part | |");
        text.push_str(own.map_or(plain.as_str(), |row| *row));
        text.push('\n');
    }
    text
}

const TURN: &str = "\
/// Proves R0-14 and C3; not R0-144.
#[test]
fn prompts_keep_their_order() {}

/// Names R0-15 but is no test, and nobody calls it.
fn helper() {}

/// R0-18 … R0-20, and C5 alone: R1-01.
fn scene() {}

fn between() {
    scene();
}

/// R0-17
#[test]
fn a_scene_is_played() {
    between();
}

proptest! {
    /// R0-16
    #[test]
    fn any_order_ends(x in 0..3) {}
}
";

/// What is found, the warning that the proof column is behind left out.
fn findings(table: &str) -> Vec<String> {
    let found = all_findings(table);
    found.into_iter().filter(|text| !text.starts_with("the proof column")).collect()
}

fn all_findings(table: &str) -> Vec<String> {
    let repo = repo_of(&[
        ("docs/conformance.md", table),
        ("crates/gangline-core/src/turn/tests.rs", TURN),
        ("crates/gangline-irc/tests/it/link.rs", "#[tokio::test]\nasync fn it_joins() {}\n"),
    ]);
    check(&repo).iter().map(|finding| finding.text.clone()).collect()
}

#[test]
fn there_are_257_ids() {
    let all: Vec<_> = ids::all().collect();
    assert_eq!(all.len(), 66 + 57 + 43 + 20 + 23 + 48);
    assert!(all.iter().all(|id| ids::looks_like_one(id)));
    assert_eq!((all[0].as_str(), all[256].as_str()), ("R0-01", "C48"));
}

#[test]
fn a_full_table_with_real_proofs_passes() {
    let rows = [
        "| R0-14 | in order | done | `gangline-core::turn::tests::prompts_keep_their_order` |",
        "| R0-16 | session | part | `gangline-core::any_order_ends` |",
        "| C3 | busy | done | `gangline_core::turn::prompts_keep_their_order` |",
    ];
    assert_eq!(findings(&table(&rows)), [""; 0]);
}

#[test]
fn a_missing_a_doubled_and_an_unknown_row_are_named() {
    let text = table(&[]).replace("| C7 | something | part | |\n", "");
    assert_eq!(findings(&text), ["C7 has no row"]);
    assert_eq!(findings(&format!("{}| C7 | x | open | |\n", table(&[]))), ["C7 has 2 rows"]);
    assert_eq!(
        findings(&format!("{}| C49 | x | open | |\n", table(&[]))),
        ["C49 is no requirement"]
    );
    assert_eq!(findings("")[..1], ["R0-01 has no row"]);
}

#[test]
fn a_test_that_is_not_there_is_named() {
    let cases = [
        "gangline-core::turn::tests::prompts_keep",
        "gangline-irc::turn::tests::prompts_keep_their_order",
        "gangline-core::other::prompts_keep_their_order",
        "gangline-core::turn::tests::helper",
        "prompts_keep_their_order",
    ];
    for proof in cases {
        assert_eq!(
            findings(&table(&[&format!("| R0-14 | in order | part | `{proof}` |")])),
            [format!("R0-14 names {proof}, and there is no such test")]
        );
    }
}

#[test]
fn done_needs_a_proof_and_states_are_four() {
    assert_eq!(
        findings(&table(&["| R0-14 | in order | done | |"])),
        ["R0-14 is done, but names no test"]
    );
    assert_eq!(
        findings(&table(&["| R0-14 | in order | nearly | |"])),
        ["R0-14 has the state nearly, not one of done, part, open, informative"]
    );
    assert_eq!(
        findings(&table(&["| R0-14 |  | part | |"])),
        ["R0-14 does not say what it asks for"]
    );
    assert_eq!(findings(&table(&["| R0-14 | a | b | open | |"]))[0], "is no row of four cells");
}

#[test]
fn a_proof_that_does_not_name_its_requirement_is_warned_of() {
    assert_eq!(
        findings(&table(&["| R1-07 | joins | part | `gangline-irc::it::link::it_joins` |"])),
        ["gangline-irc::it::link::it_joins does not name R1-07 in its doc comment"]
    );
}

#[test]
fn a_row_that_is_open_in_spite_of_a_test_and_a_proof_column_left_behind_are_warned_of() {
    assert_eq!(
        all_findings(&table(&["| R0-16 | session | open | |"])),
        [
            "R0-16 is open, but gangline-core::turn::tests::any_order_ends names it",
            "the proof column is behind: run `cargo xtask conformance --write`"
        ]
    );
}

#[test]
fn proofs_are_written_from_doc_comments_and_states_stay() {
    let files = Tree::of(&[("crates/gangline-core/src/turn/tests.rs", TURN)]);
    let proofs = Proofs::find(&files);
    assert_eq!(
        with_proofs("text\n| R0-14 | in order | part | `old` |\n| R0-15 | x | open | |\n", &proofs),
        "text\n\
         | R0-14 | in order | part | `gangline-core::turn::tests::prompts_keep_their_order` |\n\
         | R0-15 | x | open | |\n"
    );
}

#[test]
fn what_a_called_helper_and_a_range_name_counts() {
    let files = Tree::of(&[("crates/gangline-core/src/turn/tests.rs", TURN)]);
    let proofs = Proofs::find(&files);
    let test = "gangline-core::turn::tests::a_scene_is_played";
    for id in ["R0-17", "R0-18", "R0-19", "R0-20", "C5", "R1-01"] {
        assert_eq!(proofs.of(id), [test], "{id}");
    }
    assert!(proofs.of("R0-15").is_empty());
}

#[test]
fn a_range_names_all_that_lie_in_it() {
    let cases: [(&str, &[&str]); 5] = [
        ("R0-08 … R0-11, C5", &["R0-09", "R0-10", "R0-08", "R0-11", "C5"]),
        ("C9…C11", &["C9", "C10", "C11"]),
        ("R0-08 … R1-10", &["R0-08", "R1-10"]),
        ("R0-11 … R0-08", &["R0-11", "R0-08"]),
        ("R0-08 and so on … to R0-11", &["R0-08", "R0-11"]),
    ];
    for (text, expected) in cases {
        let named: std::collections::BTreeSet<_> = ids::named_in(text).into_iter().collect();
        assert_eq!(named, expected.iter().map(|id| (*id).to_owned()).collect(), "{text}");
    }
}
