//! Tests of change notices.

use super::*;
use std::time::Duration;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(60);
const A_WHILE: Duration = Duration::from_millis(30);

#[track_caller]
fn silent(result: Result<(), tokio::time::error::Elapsed>) {
    assert!(result.is_err(), "nobody rang");
}

#[tokio::test]
async fn many_rings_count_as_one_and_none_as_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bells/ada.bell");
    let notices = ChangeNotice::bind(&path).unwrap();
    silent(timeout(A_WHILE, notices.notified()).await);
    (0..3).for_each(|_| notify(&path));
    timeout(SOON, notices.notified()).await.unwrap();
    silent(timeout(A_WHILE, notices.notified()).await);
    notify(&path);
    timeout(SOON, notices.notified()).await.unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn a_notice_to_nobody_or_to_a_full_queue_neither_waits_nor_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ada.bell");
    notify(&path);
    notify(Path::new("/"));
    let notices = ChangeNotice::bind(&path).unwrap();
    (0..5_000).for_each(|_| notify(&path));
    timeout(SOON, notices.notified()).await.unwrap();
    silent(timeout(A_WHILE, notices.notified()).await);
}

#[tokio::test]
async fn a_stale_socket_is_replaced_and_a_file_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ada.bell");
    drop(ChangeNotice::bind(&path).unwrap());
    assert!(path.exists());
    let notices = ChangeNotice::bind(&path).unwrap();
    notify(&path);
    timeout(SOON, notices.notified()).await.unwrap();

    let file = folder.path().join("precious");
    fs::write(&file, "x").unwrap();
    assert_eq!(ChangeNotice::bind(&file).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(&file).unwrap(), b"x");
}

#[tokio::test]
async fn a_ring_is_not_lost_when_the_wait_for_it_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ada.bell");
    let notices = ChangeNotice::bind(&path).unwrap();
    tokio::select! {
        biased;
        () = notices.notified() => panic!("nobody rang"),
        () = std::future::ready(()) => {}
    }
    notify(&path);
    timeout(SOON, notices.notified()).await.unwrap();
}

#[tokio::test]
async fn a_long_name_and_a_long_folder_ring_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let long_name = folder.path().join(format!("{}.bell", "n".repeat(120)));
    let long_folder = folder.path().join("d".repeat(150)).join("ada.bell");
    for path in [long_name, long_folder] {
        let notices = ChangeNotice::bind(&path).unwrap();
        notify(&path);
        timeout(SOON, notices.notified()).await.unwrap();
        assert!(short(&path).exists());
        assert_eq!(short(&path).parent(), path.parent());
    }
}

#[test]
fn the_short_name_depends_on_the_name_alone_and_never_changes() {
    let folder = Path::new("/var/lib/gangline/bells");
    let long = |letter: &str| folder.join(format!("{}.bell", letter.repeat(90)));
    let hashes = ["", "a", "foobar"].map(|text| fnv1a(text.as_bytes()));
    assert_eq!(hashes, [0xcbf2_9ce4_8422_2325, 0xaf63_dc4c_8601_ec8c, 0x8594_4171_f739_67e8]);
    assert_ne!(short(&long("a")), short(&long("b")));
    assert_eq!(short(&folder.join("ada.bell")), folder.join("ada.bell"));
    assert_eq!(short(&short(&long("a"))), short(&long("a")));
}

#[tokio::test]
async fn a_socket_whose_folder_was_removed_is_bound_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run").join("bell");
    let mut notices = ChangeNotice::bind(&path).unwrap();
    assert!(!notices.renew().unwrap());
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
    assert!(notices.renew().unwrap());
    notify(&path);
    timeout(SOON, notices.notified()).await.unwrap();
}
