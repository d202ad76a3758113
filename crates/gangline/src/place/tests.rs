use std::path::Path;

use super::choose;

fn check(with_database: &[&str], expect: &str) {
    let has = |state: &Path| with_database.iter().any(|with| Path::new(with) == state);
    assert_eq!(choose(Path::new("/s"), &has), Path::new(expect), "{with_database:?}");
}

#[test]
fn the_demos_state_is_taken_only_when_the_usual_one_has_no_database() {
    check(&[], "/s");
    check(&["/s"], "/s");
    check(&["/s/demo"], "/s/demo");
    check(&["/s", "/s/demo"], "/s");
}
