//! The file of rooms.

use super::*;

#[test]
fn where_an_agent_stands_down_outlives_its_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_owned();
    let paths = Paths { config_file: "/c".into(), runtime: state.clone(), state };
    let agent: AgentName = "oak-ada".parse().unwrap();
    let (lab, den): (ChannelName, ChannelName) = ("#Lab".parse().unwrap(), "#den".parse().unwrap());

    let mut rooms = StoodDown::read(&paths, &agent);
    assert!(!rooms.is(&lab));
    rooms.add(&lab, UnixMicros(7)).unwrap();
    rooms.add(&den, UnixMicros(7)).unwrap();
    assert!(rooms.is(&"#lab".parse().unwrap()));

    let mut rooms = StoodDown::read(&paths, &agent);
    assert!(rooms.is(&lab) && rooms.is(&den));
    assert!(rooms.lift(&lab, UnixMicros(8)));
    assert!(!rooms.lift(&lab, UnixMicros(9)));

    let rooms = StoodDown::read(&paths, &agent);
    assert!(!rooms.is(&lab) && rooms.is(&den));
}

/// A line that was said before the word, and that a new daemon takes from history behind it, ends nothing.
#[test]
fn what_was_said_before_the_word_does_not_end_it() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_owned();
    let paths = Paths { config_file: "/c".into(), runtime: state.clone(), state };
    let agent: AgentName = "oak-ada".parse().unwrap();
    let (lab, den): (ChannelName, ChannelName) = ("#lab".parse().unwrap(), "#den".parse().unwrap());
    let mut rooms = StoodDown::read(&paths, &agent);
    rooms.add(&lab, UnixMicros(7)).unwrap();
    // As an older program wrote it.
    let file = paths.agent_dir("oak-ada").join(FILE);
    let kept = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, format!("#den\n{kept}")).unwrap();

    let mut rooms = StoodDown::read(&paths, &agent);
    assert!(!rooms.lift(&lab, UnixMicros(6)) && !rooms.lift(&lab, UnixMicros(7)));
    assert!(rooms.is(&lab));
    // The word said again holds longer.
    rooms.add(&lab, UnixMicros(9)).unwrap();
    rooms.add(&lab, UnixMicros(8)).unwrap();
    assert!(!rooms.lift(&lab, UnixMicros(9)));
    assert!(rooms.lift(&lab, UnixMicros(10)) && rooms.lift(&den, UnixMicros(1)));
}
