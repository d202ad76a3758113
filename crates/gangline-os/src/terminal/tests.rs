use std::path::PathBuf;

use nix::{
    pty::openpty,
    sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr},
    unistd::ttyname,
};

use super::*;

#[test]
fn a_terminal_gathers_lines_until_it_is_raw() {
    let pair = openpty(None, None).unwrap();
    let name: PathBuf = ttyname(&pair.slave).unwrap();
    assert_eq!(gathers_lines(&name), Some(true));
    let mut attributes = tcgetattr(&pair.slave).unwrap();
    cfmakeraw(&mut attributes);
    tcsetattr(&pair.slave, SetArg::TCSANOW, &attributes).unwrap();
    assert_eq!(gathers_lines(&name), Some(false));
}

#[test]
fn what_is_no_terminal_is_not_known() {
    assert_eq!(gathers_lines(Path::new("/dev/null")), None);
    assert_eq!(gathers_lines(Path::new("/no/such/file")), None);
    assert_eq!(in_foreground(u32::MAX), None);
}
