//! Files, their other names, and folders of them.

use std::os::unix::fs::symlink;

use super::*;

#[test]
fn a_file_is_found_by_any_of_its_names() {
    let folder = tempfile::tempdir().unwrap();
    let at = |path: &str| folder.path().join(path);
    for dir in ["closed/deep", "closed/open", "work"] {
        fs::create_dir_all(at(dir)).unwrap();
    }
    for file in ["closed/token", "closed/deep/key", "closed/open/note", "closed/alone", "work/own"]
    {
        fs::write(at(file), file).unwrap();
    }
    fs::hard_link(at("closed/token"), at("work/token")).unwrap();
    fs::hard_link(at("closed/deep/key"), at("work/key")).unwrap();
    fs::hard_link(at("closed/open/note"), at("work/note")).unwrap();
    fs::hard_link(at("work/own"), at("work/again")).unwrap();
    symlink(at("work"), at("closed/link")).unwrap();
    let counts = |path: &Path| !path.starts_with(at("closed/open"));
    let found = |places: &[&str]| {
        let places: Vec<PathBuf> = places.iter().map(|place| at(place)).collect();
        let others = Others::below(&places, &counts);
        ["work/token", "work/key", "work/note", "work/own", "closed/alone", "work"]
            .map(|path| others.have(&fs::metadata(at(path)).unwrap()) == Found::Yes)
    };
    assert_eq!(found(&["closed"]), [true, true, false, false, false, false]);
    assert_eq!(found(&["closed/token", "nowhere"]), [true, false, false, false, false, false]);
    assert_eq!(found(&[]), [false; 6]);
}

#[test]
fn of_too_many_entries_nobody_knows() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    fs::write(&one, "x").unwrap();
    fs::hard_link(&one, &two).unwrap();
    let alone = folder.path().join("alone");
    fs::write(&alone, "x").unwrap();
    let many = vec![alone.clone(); ENTRIES_MAX + 1];
    let others = Others::below(&many, &|_| true);
    assert_eq!(others.have(&fs::metadata(&two).unwrap()), Found::Unknown);
    assert_eq!(others.have(&fs::metadata(&alone).unwrap()), Found::No, "it has no other name");
    let others = Others::below(&many[1..], &|_| true);
    assert_eq!(others.have(&fs::metadata(&two).unwrap()), Found::No);
}
