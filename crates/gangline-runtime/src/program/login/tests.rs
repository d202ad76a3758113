//! The watch for a login, at given times.

use super::*;

const fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn files_are_looked_at_until_somebody_writes_them() {
    let folder = tempfile::tempdir().unwrap();
    let mut watch = Watch::of(Sign::Files(Files::of(Some(folder.path()), &["login"])));
    assert_eq!((watch.due(), watch.look(at(9))), (None, Found::Nothing));
    watch.begin(at(10));
    fs::write(folder.path().join("another"), "x").unwrap();
    assert_eq!((watch.due(), watch.look(at(11))), (Some(at(12)), Found::Nothing));
    assert_eq!((watch.look(at(12)), watch.due()), (Found::Nothing, Some(at(14))));
    fs::write(folder.path().join("login"), "x").unwrap();
    assert_eq!((watch.look(at(13)), watch.due()), (Found::Nothing, Some(at(14))), "not yet");
    assert_eq!((watch.look(at(14)), watch.due()), (Found::LoggedIn, None));
}

#[test]
fn a_program_is_asked_once_and_then_begun_anew() {
    let mut watch = Watch::of(Sign::Asking);
    watch.begin(at(0));
    assert_eq!((watch.due(), watch.look(at(9))), (Some(at(10)), Found::Nothing));
    assert_eq!((watch.look(at(10)), watch.due()), (Found::Ask, None));
    watch.begin(at(10));
    watch.end();
    assert_eq!((watch.look(at(99)), watch.due()), (Found::Nothing, None));
}
