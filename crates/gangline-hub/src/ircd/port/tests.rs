//! Tests of a taken port. Another user's is in the binary's tests.

use std::{fs, net::TcpListener};

use super::*;

#[test]
fn a_port_of_our_own_costs_no_token() {
    let state = tempfile::tempdir().unwrap();
    let token = state.path().join("owner.token");
    fs::write(&token, "old\n").unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    for kind in [io::ErrorKind::AddrInUse, io::ErrorKind::PermissionDenied] {
        let error = BindError::Io { address, source: kind.into() };
        let refused = refused(error, state.path());
        assert!(matches!(refused, IrcdError::Bind(BindError::Io { .. })), "{refused:?}");
    }
    assert_eq!(fs::read_to_string(&token).unwrap(), "old\n");
}

#[test]
fn a_replaced_token_is_a_new_one_and_is_named() {
    let state = tempfile::tempdir().unwrap();
    let path = state.path().join("owner.token");
    let old = credentials::load_or_make_owner(&path).unwrap();
    let told = replace_token(state.path());
    assert!(told.contains(&path.display().to_string()) && told.contains("refused"), "{told}");
    let new = credentials::load_or_make_owner(&path).unwrap();
    assert_ne!(old.expose(), new.expose());
}
