//! Tests of the one resolver.

use super::*;

fn resolve(env: &[(&str, &str)], overrides: Overrides) -> Result<Paths, PathsError> {
    let find = |name: &str| {
        env.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(*value))
    };
    Paths::resolve(&find, overrides)
}

#[track_caller]
fn check(env: &[(&str, &str)], expect: [&str; 3]) -> Paths {
    let paths = resolve(env, Overrides::default()).unwrap();
    let [config_file, state, runtime] = expect.map(PathBuf::from);
    assert_eq!(paths, Paths { config_file, state, runtime });
    paths
}

/// R0-46, R0-47, R0-48: with the variable set and unset; `/tmp` never appears.
#[test]
fn everything_follows_from_the_environment() {
    let home = ("HOME", "/home/ada");
    check(
        &[home],
        [
            "/home/ada/.config/gangline/agents.yaml",
            "/home/ada/.local/state/gangline",
            "/home/ada/.gangline/run",
        ],
    );
    check(
        &[("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "/s"), ("XDG_RUNTIME_DIR", "/run/user/7")],
        ["/c/gangline/agents.yaml", "/s/gangline", "/run/user/7"],
    );
    check(
        &[
            home,
            ("GANGLINE_STATE", "state"),
            ("GANGLINE_CONFIG", "a.yaml"),
            ("XDG_STATE_HOME", "/s"),
        ],
        ["a.yaml", "state", "/home/ada/.gangline/run"],
    );
    check(
        &[home, ("XDG_STATE_HOME", "relative"), ("XDG_RUNTIME_DIR", ""), ("GANGLINE_STATE", "")],
        [
            "/home/ada/.config/gangline/agents.yaml",
            "/home/ada/.local/state/gangline",
            "/home/ada/.gangline/run",
        ],
    );
}

#[test]
fn the_command_line_wins_and_a_file_beside_us_comes_before_the_users_own() {
    let folder = tempfile::tempdir().unwrap();
    let here = || Some(folder.path().to_owned());
    let home = [("HOME", "/home/ada")];
    let nothing_here =
        resolve(&home, Overrides { folder: here(), ..Overrides::default() }).unwrap();
    assert_eq!(nothing_here.config_file, Path::new("/home/ada/.config/gangline/agents.yaml"));

    let beside = folder.path().join("agents.yaml");
    std::fs::write(&beside, "").unwrap();
    let found = resolve(&home, Overrides { folder: here(), ..Overrides::default() }).unwrap();
    assert_eq!(found.config_file, beside);

    let env = [("HOME", "/h"), ("GANGLINE_STATE", "/no"), ("GANGLINE_CONFIG", "/no")];
    let config = Some(PathBuf::from("/yes.yaml"));
    let overrides = Overrides { config, state: Some("/yes".into()), folder: here() };
    let told = resolve(&env, overrides).unwrap();
    assert_eq!((told.config_file, told.state), ("/yes.yaml".into(), "/yes".into()));
}

#[test]
fn without_a_home_the_error_names_what_is_missing() {
    let error = resolve(&[("XDG_CONFIG_HOME", "/c")], Overrides::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot tell where to keep the state: neither XDG_STATE_HOME nor HOME is an absolute path"
    );
}

/// R0-46, R0-47, C2.
#[test]
fn sockets_lie_where_their_clients_look() {
    let set = resolve(&[("HOME", "/h"), ("XDG_RUNTIME_DIR", "/r")], Overrides::default()).unwrap();
    assert_eq!(set.control_socket("ada"), Path::new("/r/gangline-ada.sock"));
    assert_eq!(set.culture_link("ada"), Path::new("/r/culture-ada.sock"));
    let unset = resolve(&[("HOME", "/h")], Overrides::default()).unwrap();
    assert_eq!(unset.control_socket("ada"), Path::new("/h/.gangline/run/gangline-ada.sock"));
    assert_eq!(unset.culture_link("ada"), Path::new("/h/.culture/run/culture-ada.sock"));
    assert_eq!(Paths::legacy_socket("ada"), Path::new("/tmp/culture-ada.sock"));
    assert_eq!(Paths::legacy_socket("../x"), Path::new("/tmp/culture-_._x.sock"));
}

#[test]
fn names_stay_in_their_folder() {
    let paths = resolve(&[("HOME", "/h"), ("GANGLINE_STATE", "/s")], Overrides::default()).unwrap();
    for (name, folder) in
        [("ada", "ada"), ("..", "_."), ("../x", "_._x"), ("", "_"), ("a[b]", "a[b]")]
    {
        assert_eq!(paths.agent_dir(name), Path::new("/s/agents").join(folder), "{name}");
    }
    assert_eq!(paths.agent_lock("ada"), Path::new("/s/agents/ada/lock"));
    assert_eq!(paths.agent_pid("ada"), Path::new("/s/agents/ada/pid"));
    assert_eq!(paths.hub_lock(), Path::new("/s/hub.lock"));
    assert_eq!(paths.change_notice("hub"), Path::new("/s/bells/hub.bell"));
}
