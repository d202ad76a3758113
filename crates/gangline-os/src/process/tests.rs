//! Tests of what is passed on and of errors at start. Real ends are in `tests/it`.

use super::*;

fn spec(program: &str, path: &str) -> Spawn {
    Spawn {
        program: program.into(),
        args: Vec::new(),
        cwd: "/".into(),
        env: vec![("PATH".into(), path.into())],
        stdin: Stdin::Null,
        stdout: Output::Null,
        stderr: Output::Null,
        group: Group::New,
    }
}

#[track_caller]
fn check(spec: Spawn, expect: &str) {
    assert_eq!(spawn(spec).unwrap_err().to_string(), expect);
}

#[test]
fn the_allow_list_passes_no_keys_and_no_marks() {
    for key in ["PATH", "HOME", "LANG", "LC_ALL", "XDG_RUNTIME_DIR", "SSL_CERT_FILE", "TZ"] {
        assert!(is_base(key), "{key}");
    }
    for key in ["ANTHROPIC_API_KEY", "GANGLINE_RUN", "GANGLINE_FAILPOINTS", "PATHS", "LANGUAGE", ""]
    {
        assert!(!is_base(key), "{key}");
    }
}

#[tokio::test]
async fn an_error_at_start_names_the_program_and_what_is_missing() {
    check(
        spec("no-such-program", "/bin:/usr/bin"),
        "cannot start no-such-program: it is not on PATH (/bin:/usr/bin); install it, or name it \
         by its whole path",
    );
    check(spec("/no/such", ""), "cannot start /no/such: there is no such file");
    check(spec("no/such", ""), "cannot start no/such: there is no such file");
    let nowhere = Spawn { cwd: "/no/folder".into(), ..spec("sh", "/bin") };
    check(nowhere, "cannot start sh: its folder /no/folder is not there");
    let no_log = Spawn { stderr: Output::File("/no/log".into()), ..spec("sh", "/bin") };
    check(no_log, "cannot start sh: cannot write to /no/log");
    check(spec("/etc/passwd", ""), "cannot start /etc/passwd");
}

#[test]
fn a_program_is_an_executable_file_in_the_first_folder_that_has_one() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["a/tool", "b/tool", "c/tool"] {
        fs::create_dir_all(at(name).parent().unwrap()).unwrap();
        fs::write(at(name), "").unwrap();
    }
    for name in ["b/tool", "c/tool"] {
        fs::set_permissions(at(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let find = |path: &str| find_on_path(Path::new("tool"), OsStr::new(path));
    let here = |names: &[&str]| {
        names.iter().map(|name| at(name).display().to_string()).collect::<Vec<_>>().join(":")
    };
    assert_eq!(find(&here(&["a", "nowhere", "b", "c"])), Some(at("b/tool")));
    assert_eq!(find(&here(&["a"])), None);
    // What a shell would take from the working folder.
    for path in ["", ":", "nowhere::a", ".", "./b", "b"] {
        assert_eq!(find(path), None, "{path}");
        let spec = Spawn { cwd: at("b"), ..spec("tool", path) };
        assert!(matches!(spawn(spec), Err(SpawnError::NotOnPath { .. })), "{path}");
    }
}
