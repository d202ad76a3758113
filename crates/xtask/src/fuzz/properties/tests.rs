use super::{Property, SEED, Tree, all_there, filter, find, repeat};
use crate::shell;

fn property(package: &str, name: &str) -> Property {
    Property { package: package.to_owned(), name: name.to_owned() }
}

/// Two blocks, and tests outside of them.
const SOURCE: &str = "
#[test]
fn an_example() {}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(9))]

    /// A property.
    #[test]
    fn it_holds(x in 0..3) {
        fn helper(x: u8) {}
    }

    #[test]
    fn so_does_this(
        x in 0..3,
    ) {}
}

fn other() {}

#[test]
fn another_example() {}

proptest! {
    #[test]
    fn a_last_one(x: u8) {}
}
";

#[test]
fn the_tests_of_every_block_are_found_by_their_path() {
    let files = Tree::of(&[
        ("crates/a/src/b/tests.rs", SOURCE),
        ("crates/a/tests/it/c.rs", "proptest! {\n    #[test]\n    fn d(x: u8) {}\n}\n"),
        ("crates/a/src/lib.rs", "proptest! {\n    #[test]\n    fn e(x: u8) {}\n}\n"),
        ("crates/xtask/src/f.rs", SOURCE),
        ("fuzz/src/g.rs", SOURCE),
    ]);
    let mut found = find(&files);
    found.sort_by(|one, other| one.name.cmp(&other.name));
    let names =
        ["b::tests::a_last_one", "b::tests::it_holds", "b::tests::so_does_this", "c::d", "e"];
    assert_eq!(found, names.map(|name| property("a", name)));
}

/// A block that is written in another way would be left out of every run.
#[test]
fn every_block_of_this_workspace_is_found() {
    let files = Tree::load(&shell::root()).unwrap();
    let sources = files.rust().filter(|file| !file.path.starts_with("crates/xtask/"));
    let expected: usize = sources
        .flat_map(|file| file.text.split("proptest!").skip(1))
        .map(|after| after.split("\n}\n").next().unwrap().matches("#[test]").count())
        .sum();
    let found = find(&files);
    assert!(found.len() > 50 && found.len() == expected, "{} of {expected}", found.len());
}

#[test]
fn what_the_runner_does_not_know_is_an_error() {
    let properties = [property("a", "b::c"), property("a-b", "c")];
    let filter = filter(&properties);
    assert_eq!(filter, "(package(=a) & test(=b::c)) | (package(=a-b) & test(=c))");
    all_there(&properties, "a b::c\na-b::it c\n").unwrap();
    let error = all_there(&properties, "a b::c\na c\na-b d::c\n").unwrap_err().to_string();
    assert!(error.contains("a-b") && !error.contains("b::c"), "{error}");
    all_there(&[], "").unwrap_err();
}

#[test]
fn a_failure_is_repeated_by_its_name_and_seed() {
    let said = [
        "        PASS [   0.1s] (1/3) a b::c",
        "        FAIL [   0.1s] (2/3) a::it d::e",
        "     Summary [   0.2s] 3 tests run: 2 passed, 1 failed",
        "        FAIL [   0.1s] (2/3) a::it d::e",
    ]
    .map(str::to_owned);
    assert_eq!(
        repeat(7, &said, "all"),
        "PROPTEST_RNG_SEED=7 cargo nextest run --workspace -E '(binary_id(=a::it) & test(=d::e))'"
    );
    assert_eq!(repeat(7, &[], "all"), "PROPTEST_RNG_SEED=7 cargo nextest run --workspace -E 'all'");
}

/// The gate's inputs are the same everywhere, and a seed that somebody sets counts.
#[test]
fn the_gate_has_a_seed_that_can_be_overruled() {
    let config = std::fs::read_to_string(shell::root().join(".cargo/config.toml")).unwrap();
    let set: Vec<&str> = config.lines().filter(|line| line.starts_with(SEED)).collect();
    let [set] = set.as_slice() else { panic!("{set:?}") };
    let value = set.split_once(" = ").unwrap().1.trim_matches('"');
    assert!(value.parse::<u64>().is_ok(), "no table, which could overrule: {set}");
}
