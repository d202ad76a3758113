use super::*;

#[test]
fn a_folder_s_name_has_dashes_for_all_but_letters_and_digits() {
    let check = |workdir: &str, name: &str, fits: bool| {
        assert_eq!(is_folder_of(name, Path::new(workdir)), fits, "{workdir} {name}");
    };
    check("/home/ada/my.project_1", "-home-ada-my-project-1", true);
    check("/home/ada/über", "-home-ada--ber", true);
    check("/home/ada/🦀", "-home-ada---", true);
    check("/home/ada", "-home-ada-b", false);
    let long = format!("/{}", "x".repeat(300));
    check(&long, &format!("-{}-1a2b3c", "x".repeat(199)), true);
    check(&long, &format!("-{}-1a2b3c", "y".repeat(199)), false);
}

#[test]
fn sessions_come_newest_first_and_only_those_of_the_folder() {
    let home = tempfile::tempdir().unwrap();
    let write = |project: &str, name: &str, cwd: &str, age: u64| {
        let folder = home.path().join(".claude/projects").join(project);
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join(name);
        let text = format!("{{\"type\":\"queue-operation\"}}\nbroken\n{{\"cwd\":\"{cwd}\"}}\n");
        fs::write(&path, text).unwrap();
        let used = UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 - age);
        File::options().append(true).open(&path).unwrap().set_modified(used).unwrap();
    };
    let [a, b, c, d] = [1, 2, 3, 4].map(|n| uuid::Uuid::from_u128(n).to_string());
    write("-w-a", &format!("{a}.jsonl"), "/w/a", 10);
    write("-w-a", &format!("{b}.jsonl"), "/w.a", 5);
    write("-w-a", &format!("{c}.jsonl"), "/w/a", 1);
    write("-w-a", "agent-1.jsonl", "/w/a", 0);
    write("-w-b", &format!("{d}.jsonl"), "/w/b", 3);
    let env = [("HOME".to_owned(), home.path().display().to_string())].into();
    let login = Login::new(&env);
    let listed = |workdir: Option<&str>, limit| {
        let filter = SessionFilter { workdir: workdir.map(PathBuf::from), limit };
        let handles = list(&login, &filter);
        handles.into_iter().map(|it| it.session.unwrap().0).collect::<Vec<_>>()
    };
    assert_eq!(listed(Some("/w/a"), 9), [c.clone(), a.clone()]);
    assert_eq!(listed(None, 3), [c.clone(), d, b]);
    assert_eq!(listed(Some("/w/a"), 1), [c]);
    assert_eq!(listed(Some("/elsewhere"), 9), [""; 0]);
    assert_eq!(list(&Login::new(&[].into()), &SessionFilter { workdir: None, limit: 9 }), []);
}
