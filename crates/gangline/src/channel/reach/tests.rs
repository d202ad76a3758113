//! Tests of finding a daemon.

use std::{
    ffi::OsString,
    fs::{self, Permissions},
    os::unix::{
        fs::{PermissionsExt as _, symlink},
        net::UnixListener,
    },
    path::PathBuf,
};

use gangline_api::ipc::Token;

use super::{LegacyTmp, Reach, may_be_dialled};

fn find(env: &[(&str, &str)], asked: Option<&str>) -> Result<Option<Reach>, String> {
    let env = |name: &str| {
        env.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(*value))
    };
    let asked = asked.map(|nick| nick.parse().unwrap());
    Reach::find(&env, asked.as_ref(), LegacyTmp::No).map_err(|failure| failure.text())
}

fn reach(nick: &str, sockets: &[&str], token: Option<&str>) -> Result<Option<Reach>, String> {
    Ok(Some(Reach {
        nick: nick.parse().unwrap(),
        sockets: sockets.iter().map(PathBuf::from).collect(),
        token: token.map(|token| Token::new(token).unwrap()),
    }))
}

const OURS: &str = "/r/gangline-oak-ada.sock";
const CULTURES: &str = "/r/culture-oak-ada.sock";

/// R0-46, R0-47, R0-48, R0-59, C2: the same paths as the daemon's, by the one resolver.
#[test]
fn the_environment_names_the_agent_and_its_socket() {
    let home = [("HOME", "/h"), ("XDG_RUNTIME_DIR", "/r")];
    let with = |more: &[(&'static str, &'static str)]| [&home[..], more].concat();
    let plain = reach("oak-ada", &[OURS, CULTURES], None);
    assert_eq!(find(&with(&[("GANGLINE_NICK", "oak-ada")]), None), plain);
    assert_eq!(find(&with(&[("CULTURE_NICK", "oak-ada")]), None), plain);
    let both = with(&[("CULTURE_NICK", "oak-bob"), ("GANGLINE_NICK", "oak-ada")]);
    assert_eq!(find(&both, None), plain, "ours comes first");
    let empty = with(&[("GANGLINE_NICK", ""), ("CULTURE_NICK", "oak-ada"), ("GANGLINE_TOKEN", "")]);
    assert_eq!(find(&empty, None), plain, "empty is unset");
    assert_eq!(find(&home, None), Ok(None));

    let unset = [("HOME", "/h"), ("CULTURE_NICK", "oak-ada")];
    let fallback =
        ["/h/.gangline/run/gangline-oak-ada.sock", "/h/.culture/run/culture-oak-ada.sock"];
    assert_eq!(find(&unset, None), reach("oak-ada", &fallback, None));

    let child = with(&[
        ("GANGLINE_NICK", "oak-ada"),
        ("GANGLINE_SOCKET", "/s/sock"),
        ("GANGLINE_TOKEN", "s3cret"),
    ]);
    let own = reach("oak-ada", &["/s/sock", OURS, CULTURES], Some("s3cret"));
    assert_eq!(find(&child, None), own);
    assert_eq!(find(&child, Some("oak-ada")), own, "the same agent, named");
    let bob = ["/r/gangline-oak-bob.sock", "/r/culture-oak-bob.sock"];
    assert_eq!(
        find(&child, Some("oak-bob")),
        reach("oak-bob", &bob, None),
        "another agent has neither our socket nor our token"
    );
    let bare = [("GANGLINE_NICK", "oak-ada"), ("GANGLINE_SOCKET", "/s/sock")];
    assert_eq!(find(&bare, None), reach("oak-ada", &["/s/sock"], None), "no home is needed then");
}

#[test]
fn a_nick_that_is_none_is_told_with_the_variable() {
    let error = find(&[("HOME", "/h"), ("CULTURE_NICK", "claude")], None).unwrap_err();
    assert_eq!(
        error,
        "error: CULTURE_NICK must be set to a valid <server>-<agent> nick\n\
         hint: set it and retry, e.g. export CULTURE_NICK=spark-claude\n"
    );
    let asked = find(&[("HOME", "/h"), ("CULTURE_NICK", "claude")], Some("oak-ada"));
    assert!(asked.is_ok(), "another one is named");
    let error = find(&[("CULTURE_NICK", "oak-ada")], None).unwrap_err();
    assert!(error.contains("cannot tell where to keep"), "{error}");
}

/// C2: what lies in a folder of everybody's is dialled only if it is this user's alone.
#[test]
fn a_socket_of_everybodys_folder_must_be_ours_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let _listener = UnixListener::bind(path("s")).unwrap();
    let set = |mode| fs::set_permissions(path("s"), Permissions::from_mode(mode)).unwrap();
    set(0o600);
    assert!(may_be_dialled(&path("s")));
    for mode in [0o660, 0o606, 0o700, 0o666, 0o640] {
        set(mode);
        assert!(!may_be_dialled(&path("s")), "{mode:o}");
    }
    set(0o600);
    symlink(path("s"), path("link")).unwrap();
    assert!(!may_be_dialled(&path("link")), "a link leads anywhere");
    fs::write(path("file"), "").unwrap();
    fs::set_permissions(path("file"), Permissions::from_mode(0o600)).unwrap();
    assert!(!may_be_dialled(&path("file")));
    assert!(!may_be_dialled(&path("absent")));
    // Only root can give a file away.
    if std::os::unix::fs::chown(path("s"), Some(65_534), None).is_ok() {
        assert!(!may_be_dialled(&path("s")), "another user's");
    }
}
