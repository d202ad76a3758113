use std::{fs, os::unix::fs::symlink, path::Path};

use super::choose;

#[test]
fn a_link_to_the_program_is_kept_as_it_was_called() {
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("gangline-1"), folder.path().join("gangline"));
    fs::write(&real, "one").unwrap();
    symlink(&real, &link).unwrap();
    let own = fs::metadata(&real).unwrap();
    assert_eq!(choose(Some(link.clone()), &real, Some(&own)).unwrap(), link);
    let other = folder.path().join("sh");
    fs::write(&other, "another program").unwrap();
    assert_eq!(choose(Some(other), &real, Some(&own)).unwrap(), real, "that is not what runs");
    assert_eq!(choose(None, &real, Some(&own)).unwrap(), real);
}

#[test]
fn a_program_that_was_replaced_is_the_new_one_of_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gangline");
    fs::write(&file, "old").unwrap();
    let own = fs::metadata(&file).unwrap();
    let deleted = format!("{} (deleted)", file.display());
    let gone = Path::new(&deleted);
    let new = folder.path().join("new");
    fs::write(&new, "new").unwrap();
    fs::rename(&new, &file).unwrap();
    assert_eq!(choose(None, gone, Some(&own)).unwrap(), file);
    fs::remove_file(&file).unwrap();
    assert!(choose(None, gone, Some(&own)).is_err());
}
