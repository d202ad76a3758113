use std::net::TcpListener;

use gangline_os::paths::Paths;

use super::choose;

fn paths(state: &std::path::Path) -> Paths {
    Paths { config_file: state.join("agents.yaml"), state: state.to_owned(), runtime: state.into() }
}

#[test]
fn ports_are_kept_until_one_is_taken() {
    let state = tempfile::tempdir().unwrap();
    let paths = paths(state.path());
    let first = choose(&paths, false).unwrap();
    assert_ne!(first.irc, first.standin);
    assert_eq!(choose(&paths, false).unwrap(), first);
    let _other = TcpListener::bind(("127.0.0.1", first.irc)).unwrap();
    let second = choose(&paths, false).unwrap();
    assert_ne!(second.irc, first.irc);
    assert_eq!(second.standin, first.standin);
}

#[test]
fn a_damaged_file_of_ports_is_replaced() {
    let state = tempfile::tempdir().unwrap();
    let paths = paths(state.path());
    std::fs::write(state.path().join("ports.json"), b"\xff\0{").unwrap();
    let ports = choose(&paths, false).unwrap();
    assert_eq!(choose(&paths, false).unwrap(), ports);
}
