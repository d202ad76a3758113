//! Tests of long paths. That Linux reaches them is tested with datagram and stream sockets.

use super::*;

#[test]
fn a_path_that_is_no_address_is_refused_and_its_folder_named() {
    assert!(refuse_long(Path::new("/home/ori/.local/state/gangline/irc.sock")).is_ok());
    let folder = format!("/{}", "d".repeat(150));
    let error = refuse_long(&Path::new(&folder).join("irc.sock")).unwrap_err();
    let text = error.to_string();
    assert!(text.starts_with(&format!("the folder {folder} is too long for a socket")), "{text}");
    assert!(text.contains("160 bytes") && text.contains("103"), "{text}");
}
