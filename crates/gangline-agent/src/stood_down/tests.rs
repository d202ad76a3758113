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
    rooms.add(&lab).unwrap();
    rooms.add(&den).unwrap();
    assert!(rooms.is(&"#lab".parse().unwrap()));

    let mut rooms = StoodDown::read(&paths, &agent);
    assert!(rooms.is(&lab) && rooms.is(&den));
    assert!(rooms.lift(&lab));
    assert!(!rooms.lift(&lab));

    let rooms = StoodDown::read(&paths, &agent);
    assert!(!rooms.is(&lab) && rooms.is(&den));
}
