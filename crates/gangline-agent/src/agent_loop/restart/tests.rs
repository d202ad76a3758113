use super::*;

const GOES_ON: &str = "\n[gangline] you were restarted; your session continues, and your files are in /srv as you left them";

/// R2-14: a restart is told once, with whether the session is the same; the first start is none.
#[test]
fn a_restart_is_told_once() {
    let mut restart = Restart::new(None, "/srv".to_owned());
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

    let mut restart = Restart::new(Some("a".to_owned()), "/srv".to_owned());
    restart.ready("a");
    assert_eq!(restart.take_report().as_deref(), Some(GOES_ON), "a daemon's successor");
}
