//! Tests of the system's socket table. Real connections are in `tests/it`.

use super::*;

const HEAD: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

fn row(theirs: &str, ours: &str, rest: &str) -> String {
    let (state, uid_and_inode) = rest.split_once(' ').unwrap();
    let (uid, inode) = uid_and_inode.split_once(' ').unwrap();
    format!(
        "   3: {theirs} {ours} {state} 00000000:00000000 00:00000000 00000000 {uid:>5}        0 {inode} 1 0 20\n"
    )
}

#[track_caller]
fn check(rows: &[String], local: &str, peer: &str, expect: Option<u32>) {
    let table = format!("{HEAD}{}", rows.concat());
    let found = find(&table, peer.parse().unwrap(), local.parse().unwrap());
    let found = found.map(|whose| whose.uid);
    assert_eq!(found, expect, "{table}");
}

#[cfg(target_endian = "little")]
mod little_endian {
    use super::*;

    const V4: &str = "0100007F";
    const V6: &str = "00000000000000000000000001000000";
    const MAPPED: &str = "0000000000000000FFFF00000100007F";

    #[test]
    fn the_row_of_the_peers_end_tells_its_user_and_ours_does_not() {
        let theirs = row(&format!("{V4}:C001"), &format!("{V4}:1A0B"), "01 1000 77");
        let ours = row(&format!("{V4}:1A0B"), &format!("{V4}:C001"), "01 0 78");
        let rows = [ours, theirs];
        check(&rows, "127.0.0.1:6667", "127.0.0.1:49153", Some(1000));
        check(&rows, "127.0.0.1:6668", "127.0.0.1:49153", None);
        check(&rows, "127.0.0.2:6667", "127.0.0.1:49153", None);
    }

    #[test]
    fn v6_and_v4_within_v6_are_found() {
        let rows = [row(&format!("{V6}:C001"), &format!("{V6}:1A0B"), "01 1001 77")];
        check(&rows, "[::1]:6667", "[::1]:49153", Some(1001));
        let rows = [row(&format!("{MAPPED}:C001"), &format!("{MAPPED}:1A0B"), "01 1002 77")];
        check(&rows, "127.0.0.1:6667", "127.0.0.1:49153", Some(1002));
        let rows = [row(&format!("{V4}:C001"), &format!("{V4}:1A0B"), "01 1003 77")];
        check(&rows, "[::ffff:127.0.0.1]:6667", "[::ffff:127.0.0.1]:49153", Some(1003));
    }

    /// Such rows have no inode and on many kernels user 0, whoever made the connection.
    #[test]
    fn a_connection_that_its_process_has_closed_belongs_to_nobody() {
        for closed in ["06 0 0", "05 0 0", "04 0 0", "01 0 0", "08 1000 0"] {
            let rows = [row(&format!("{V4}:C001"), &format!("{V4}:1A0B"), closed)];
            check(&rows, "127.0.0.1:6667", "127.0.0.1:49153", None);
        }
    }

    /// Whoever closes only the sending side is still there.
    #[test]
    fn a_process_that_has_closed_one_direction_is_known_in_every_state() {
        for state in ["01", "04", "05", "08", "09", "0B"] {
            let rest = format!("{state} 1000 77");
            let rows = [row(&format!("{V4}:C001"), &format!("{V4}:1A0B"), &rest)];
            check(&rows, "127.0.0.1:6667", "127.0.0.1:49153", Some(1000));
        }
    }
}

#[test]
fn rows_that_nobody_understands_are_passed_over() {
    for broken in ["", "x\n", "1: 2 3 4 5 6 7 8 9 10\n", "1: ZZ:1 00:2 01 5 6 7 8 9 10\n"] {
        check(&[broken.to_owned()], "127.0.0.1:1", "127.0.0.1:2", None);
    }
    assert_eq!(address("0100007F:XYZ"), None);
    assert_eq!(address("010000:0001"), None);
    assert_eq!(address(&format!("{}:0001", "0".repeat(40))), None);
}
