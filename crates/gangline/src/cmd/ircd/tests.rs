//! What `gangline ircd` says.

use std::{io, net::SocketAddr, path::PathBuf};

use gangline_irc::server::config::BindError;
use gangline_os::lock::{Holder, LockError};

use super::*;
use crate::failure::Exit;

#[test]
fn it_says_where_it_listens_how_to_join_and_how_to_end_it() {
    let expected = "The IRC server listens on 127.0.0.1:6667.\n\nJoin.\n\nCtrl-C ends it.\n";
    assert_eq!(listening("127.0.0.1:6667", "Join.\n"), expected);
}

#[test]
fn a_name_that_no_server_can_have_is_refused() {
    for name in ["a", "spark", "Spark-1.local_net", &"x".repeat(63)] {
        assert!(check_name(name).is_ok(), "{name}");
    }
    for name in ["", "a b", "a:b", "\u{e4}", &"x".repeat(64)] {
        let refused = check_name(name).unwrap_err();
        assert_eq!(refused.exit(), Exit::User);
        let expected = "error: a server's name is 1 to 63 of A-Z, a-z, 0-9, -, _ and .\n";
        assert_eq!(refused.text(), expected, "{name}");
    }
}

/// Only a state folder that is in use has the hint about it.
#[test]
fn why_it_cannot_run_is_said_with_what_helps() {
    let path = || PathBuf::from("/s/irc.db");
    let address: SocketAddr = ([127, 0, 0, 1], 1).into();
    let held = Holder { pid: Some(7), start_time: None, note: "gangline hub".to_owned() };
    let hint = "hint: a hub, or another `gangline ircd`, may have this state folder: see --state\n";
    let in_use = format!(
        "caused by: the IRC history is in use: only one server can run on it\n\
         caused by: the lock is held by {held}\n{hint}"
    );
    let table = [
        (IrcdError::History(OpenError::Lock(LockError::Held(held))), Exit::Environment, &*in_use),
        (
            IrcdError::History(OpenError::NewerSchema { path: path(), found: 9, known: 8 }),
            Exit::Config,
            "caused by: /s/irc.db has schema 9, this program knows 8: use the Gangline that wrote it, or \
             a newer one\n",
        ),
        (
            IrcdError::Bind(BindError::Io { address, source: io::ErrorKind::AddrInUse.into() }),
            Exit::Environment,
            "caused by: cannot listen on 127.0.0.1:1\ncaused by: address in use\nhint: another program \
             already listens there: stop it, or choose another port\n",
        ),
        (
            IrcdError::State { path: path(), source: io::ErrorKind::PermissionDenied.into() },
            Exit::Environment,
            "caused by: cannot use the state folder /s/irc.db\ncaused by: permission denied\n",
        ),
    ];
    for (error, exit, why) in table {
        let failure = explain(error);
        assert_eq!(failure.text(), format!("error: the IRC server cannot run\n{why}"));
        assert_eq!(failure.exit(), exit, "{why}");
    }
}
