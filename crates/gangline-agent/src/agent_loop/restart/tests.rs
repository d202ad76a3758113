use super::*;

const GOES_ON: &str = "\n[gangline] you were restarted; your session continues, and your files are in /srv as you left them";

/// R2-14: a restart is told once, with whether the session is the same; the first start is none.
#[test]
fn a_restart_is_told_once() {
    let mut restart = Restart::new(None, "/srv".to_owned(), StartTold::ByLine);
    restart.ready("a");
    assert_eq!(restart.take_report(), None, "the first start");
    restart.ready("a");
    assert_eq!(restart.take_report().as_deref(), Some(GOES_ON));
    assert_eq!(restart.take_report(), None);
    restart.session("b");
    assert_eq!(restart.take_report(), None, "a cleared context is no restart");
    restart.ready("b");
    assert_eq!(restart.take_report().as_deref(), Some(GOES_ON));
    restart.ready("c");
    restart.ready("c");
    assert!(
        restart.take_report().unwrap().contains("your session is new"),
        "it never heard of the first"
    );

    let mut restart = Restart::new(Some("a".to_owned()), "/srv".to_owned(), StartTold::ByLine);
    restart.ready("a");
    assert_eq!(restart.take_report().as_deref(), Some(GOES_ON), "a daemon's successor");
}

/// R2-14: what a message tells of the daemon's start is not told by a line too, unless it was wrong; the
/// backend's own restarts are told as ever.
#[test]
fn a_start_is_not_told_twice() {
    let by_message = |resumes| StartTold::ByMessage { needs: Needs::OtherMessage, resumes };
    let told = |start, sessions: &[&str]| {
        let mut restart = Restart::new(Some("a".to_owned()), "/srv".to_owned(), start);
        sessions.iter().for_each(|session| restart.ready(session));
        restart.take_report()
    };
    assert_eq!(told(by_message(true), &["a"]), None);
    assert_eq!(told(by_message(false), &["b"]), None);
    assert_eq!(told(StartTold::Never, &["a"]), None);
    assert!(told(by_message(true), &["b"]).unwrap().contains("your session is new"));
    for start in [by_message(true), StartTold::Never] {
        assert_eq!(told(start, &["a", "a"]).as_deref(), Some(GOES_ON));
    }
}
