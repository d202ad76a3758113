//! Links anywhere in a path, and what else may stand in it.

use std::{
    fs,
    io::Read as _,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::PathBuf,
};

use super::*;

fn place() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    for dir in ["work/src", "closed"] {
        fs::create_dir_all(root.join(dir)).unwrap();
    }
    for file in ["work/src/a", "closed/a"] {
        fs::write(root.join(file), file).unwrap();
    }
    (folder, root)
}

fn text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open(path)?.read_to_string(&mut text)?;
    Ok(text)
}

#[test]
fn a_file_is_opened_by_its_own_path_only() {
    let (_folder, root) = place();
    let file = root.join("work/src/a");
    assert_eq!(text(&file).unwrap(), "work/src/a");
    fs::rename(root.join("work/src"), root.join("work/old")).unwrap();
    symlink(root.join("closed"), root.join("work/src")).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "closed/a", "by its name it would be");
    assert!(text(&file).is_err());
    assert!(replace(&file, b"new").is_err());
    symlink(root.join("closed/a"), root.join("work/old/b")).unwrap();
    assert!(text(&root.join("work/old/b")).is_err());
    for path in ["work/old/../old/a", "work/none/a", "work/none", "work/./../closed/a"] {
        assert!(text(&root.join(path)).is_err(), "{path}");
    }
    assert!(text(Path::new("a")).is_err() && text(Path::new("/")).is_err());
    assert_eq!(fs::read_to_string(root.join("closed/a")).unwrap(), "closed/a");
    assert_eq!(fs::read_dir(root.join("closed")).unwrap().count(), 1);
}

#[test]
fn a_file_is_replaced_in_folders_that_are_made() {
    let (_folder, root) = place();
    let file = root.join("work/a/b/c");
    replace(&file, b"one").unwrap();
    assert_eq!(text(&file).unwrap(), "one");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o750)).unwrap();
    replace(&file, b"two").unwrap();
    assert_eq!(text(&file).unwrap(), "two");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o750);
    assert!(replace(&root.join("work/src"), b"x").is_err(), "a folder");
    let names = |path: &str| fs::read_dir(root.join(path)).unwrap().count();
    assert_eq!((names("work/a/b"), names("work/src")), (1, 1), "nothing is left beside it");
    // A link is replaced as what it is: paths are resolved before.
    symlink(root.join("closed/a"), root.join("work/l")).unwrap();
    replace(&root.join("work/l"), b"x").unwrap();
    assert_eq!(fs::read_to_string(root.join("closed/a")).unwrap(), "closed/a");
}
