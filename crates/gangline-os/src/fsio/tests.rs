//! Tests of private files and capped reads.

use super::*;
use std::os::unix::fs::symlink;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_private_file_is_replaced_whole_with_mode_0600_and_nothing_is_left_beside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("irc.secret");
    fs::write(&path, "an older and longer text").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
    write_private(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(mode(&path), 0o600);
    assert_eq!(names(folder.path()), ["irc.secret"]);
}

#[test]
fn a_folder_is_emptied_and_nothing_outside_of_it_is_touched() {
    let place = tempfile::tempdir().unwrap();
    let (tmp, outside) = (place.path().join("tmp"), place.path().join("outside"));
    fs::create_dir_all(tmp.join("deep/deeper")).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("kept"), "").unwrap();
    fs::write(tmp.join("deep/deeper/file"), "").unwrap();
    fs::write(tmp.join("file"), "").unwrap();
    symlink(&outside, tmp.join("link")).unwrap();
    symlink(&outside, tmp.join("deep/link")).unwrap();
    symlink(place.path().join("nowhere"), tmp.join("broken")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(tmp.join("socket")).unwrap();
    let at = |shift| UnixMicros::from_seconds(fs::metadata(&outside).unwrap().ctime() + shift);
    empty_dir(&tmp, at(-1000)).unwrap();
    assert_eq!(names(&tmp), ["broken", "deep", "file", "link", "socket"], "they are newer");
    empty_dir(&tmp, at(1000)).unwrap();
    assert_eq!(names(&tmp), [] as [&str; 0]);
    assert_eq!(names(&outside), ["kept"]);
    empty_dir(&place.path().join("absent"), at(0)).unwrap();
    let link = place.path().join("tmp2");
    symlink(&outside, &link).unwrap();
    let error = empty_dir(&link, at(1000)).unwrap_err();
    assert!(error.to_string().contains("tmp2"), "{error}");
    assert_eq!(names(&outside), ["kept"]);
}

#[test]
fn a_write_that_fails_leaves_the_old_content_and_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("taken");
    fs::create_dir_all(path.join("inner")).unwrap();
    let error = write_private(&path, b"new").unwrap_err();
    assert!(error.to_string().contains("taken"), "{error}");
    assert_eq!(names(folder.path()), ["taken"]);
}

#[test]
fn a_new_folder_and_its_new_parents_are_private() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a/b");
    private_dir(&inner).unwrap();
    assert_eq!((mode(&folder.path().join("a")), mode(&inner)), (0o700, 0o700));
    private_dir(&inner).unwrap();
}

#[test]
fn an_open_folder_is_narrowed_and_a_shared_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    fs::create_dir(&open).unwrap();
    fs::set_permissions(&open, fs::Permissions::from_mode(0o755)).unwrap();
    private_dir(&open).unwrap();
    assert_eq!(mode(&open), 0o700);

    fs::set_permissions(&open, fs::Permissions::from_mode(0o1777)).unwrap();
    let error = private_dir(&open).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    assert_eq!(mode(&open), 0o1777);
}

#[test]
fn a_file_over_the_limit_is_refused_with_name_size_and_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("big.yaml");
    fs::write(&path, "12345").unwrap();
    assert_eq!(read_capped(&path, 5).unwrap(), b"12345");
    let error = read_capped(&path, 4).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
    let expect = format!("{} is too large: 5 bytes, the limit is 4", path.display());
    assert_eq!(error.to_string(), expect);
}

/// Files such as `/dev/zero` say that they are empty.
#[test]
fn a_file_without_end_is_refused_too() {
    let error = read_capped(Path::new("/dev/zero"), 1_000).unwrap_err();
    assert_eq!(error.to_string(), "/dev/zero is too large: 1001 bytes, the limit is 1000");
}

/// Somebody else's folder may hold a pipe that nobody ever writes to.
#[test]
fn a_foreign_file_that_is_none_is_refused_and_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let (pipe, file) = (folder.path().join("pipe"), folder.path().join("file"));
    nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).unwrap();
    for path in [pipe.as_path(), folder.path(), Path::new("/dev/zero")] {
        let error = read_foreign_text(path, 10).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        let why = error.get_ref().unwrap().source().unwrap().to_string();
        assert_eq!(why, "it is no regular file");
    }
    fs::write(&file, "text").unwrap();
    assert_eq!(read_foreign_text(&file, 10).unwrap(), "text");
    symlink(&file, folder.path().join("link")).unwrap();
    assert_eq!(read_foreign_text(&folder.path().join("link"), 10).unwrap(), "text");
}

#[test]
fn errors_name_the_file_and_keep_kind_and_source() {
    let folder = tempfile::tempdir().unwrap();
    let dangling = folder.path().join("dangling");
    symlink("nowhere", &dangling).unwrap();
    let error = read_capped(&dangling, 5).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert_eq!(error.to_string(), format!("cannot open {}", dangling.display()));
    assert!(error.get_ref().unwrap().source().unwrap().to_string().contains("No such file"));

    let binary = folder.path().join("binary");
    fs::write(&binary, [0xff]).unwrap();
    assert_eq!(read_text_capped(&binary, 5).unwrap_err().kind(), io::ErrorKind::InvalidData);
}

#[test]
fn a_path_is_resolved_as_the_kernel_does_it() {
    let place = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(place.path()).unwrap();
    fs::create_dir_all(root.join("work/src")).unwrap();
    fs::create_dir_all(root.join("state/agents")).unwrap();
    fs::write(root.join("state/owner.token"), "").unwrap();
    let link = |to: &str, at: &str| symlink(to, root.join(at)).unwrap();
    link("../state", "work/state");
    link("state/owner.token", "work/token");
    link("absent/file", "work/dangling");
    link("loop", "work/loop");
    link("state/agents", "work/agents");
    for (path, expect) in [
        ("work/src/../x", "work/x"),
        ("work/./src//x", "work/src/x"),
        ("work/token", "state/owner.token"),
        ("work/state/owner.token", "state/owner.token"),
        ("work/state/new/file", "state/new/file"),
        // `..` of what is behind a link.
        ("work/agents/../owner.token", "state/owner.token"),
        ("work/dangling", "work/absent/file"),
        ("work/absent/../../state", "state"),
        ("work/loop/x", "work/loop/x"),
    ] {
        assert_eq!(resolved(&root.join(path)), root.join(expect), "{path}");
    }
    assert_eq!(resolved(Path::new("/../../etc/./passwd")), Path::new("/etc/passwd"));
    assert!(resolved(Path::new("x")).is_absolute());
}
