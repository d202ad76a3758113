use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// A file is somebody else's if they own or may write it or its folder; one of root's is nobody else's.
#[test]
fn whoever_may_write_a_file_or_its_folder_decides_what_it_says() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("work");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("agents.yaml");
    fs::write(&file, "agents: []\n").unwrap();
    let check = |of_file: u32, of_folder: u32, expect: Option<&str>| {
        chmod(&file, of_file);
        chmod(&folder, of_folder);
        assert_eq!(foreign(&file).unwrap().as_deref(), expect, "{of_file:o} {of_folder:o}");
    };
    check(0o600, 0o700, None);
    // The own group of a user who has umask 002.
    check(0o664, 0o775, None);
    check(0o666, 0o700, Some("other users may write it (mode 666)"));
    check(0o644, 0o777, Some("other users may write its folder (mode 777)"));
    check(0o644, 0o1777, None);
    chmod(&folder, 0o700);
    let link = folder.join("link.yaml");
    symlink(&file, &link).unwrap();
    assert_eq!(foreign(&link).unwrap(), None, "the file itself is looked at apart");
    let own = own_uid();
    if own == 0 {
        std::os::unix::fs::chown(&file, Some(65534), None).unwrap();
        let why = foreign(&file).unwrap();
        assert_eq!(why.as_deref(), Some("it belongs to another user (uid 65534)"));
        std::os::unix::fs::chown(&file, Some(own), Some(65534)).unwrap();
        check(0o664, 0o700, Some("other users may write it (mode 664)"));
        check(0o644, 0o700, None);
        std::os::unix::fs::chown(&folder, Some(65534), None).unwrap();
        let why = foreign(&file).unwrap();
        assert_eq!(why.as_deref(), Some("its folder belongs to another user (uid 65534)"));
    } else {
        gangline_testkit::stage::skip("foreign files", "only root can give a file to another user");
    }
}

/// A group counts as the user's own only if nobody else is in it: on some systems all users have one.
#[test]
fn a_group_is_ones_own_if_nobody_else_is_in_it() {
    let passwd = "root:x:0:0::/:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n\
                  bob:x:1001:100::/home/bob:/bin/sh\neve:x:1002:100::/home/eve:/bin/sh\n";
    let group = "users:x:100:\nada:x:1000:\nteam:x:2000:ada,bob\nsolo:x:2001:ada,root\n";
    let check = |uid: u32, gid: u32, expect: bool| {
        assert_eq!(is_alone((uid, gid), passwd, group), expect, "{uid} {gid}");
    };
    check(1000, 1000, true);
    check(1001, 100, false);
    check(1000, 2000, false);
    check(1000, 2001, true);
    // Of a user from elsewhere nobody knows who else is in a group.
    check(5000, 5000, true);
    check(5000, 20, false);
    assert!(!is_alone((1000, 1000), passwd, "ada:x:1000:bob\n"));
}

#[test]
fn what_was_allowed_is_remembered_once_and_the_oldest_is_forgotten() {
    let home = tempfile::tempdir().unwrap();
    let state = home.path().join("state");
    let path = |number: usize| PathBuf::from(format!("/proj/{number}/agents.yaml"));
    assert_eq!(known(&state), Vec::<PathBuf>::new());
    for number in 0..=KNOWN_MOST {
        remember(&state, &path(number)).unwrap();
        remember(&state, &path(number)).unwrap();
    }
    let all = known(&state);
    assert_eq!((all.len(), &all[0], all.last()), (KNOWN_MOST, &path(1), Some(&path(KNOWN_MOST))));
    let record = state.join(KNOWN);
    assert_eq!(fs::metadata(&record).unwrap().permissions().mode() & 0o777, 0o600);
    fs::write(&record, "not a list").unwrap();
    assert_eq!(known(&state), Vec::<PathBuf>::new(), "what cannot be read allows nothing");
    remember(&state, &path(7)).unwrap();
    assert_eq!(known(&state), [path(7)]);
}
