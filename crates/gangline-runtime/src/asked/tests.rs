//! Names and links in a real folder.

use std::{fs, os::unix::fs::symlink};

use super::*;

#[test]
fn a_name_that_is_or_passes_a_link_says_where_it_leads() {
    let dir = tempfile::tempdir().unwrap();
    let top = fsio::resolved(dir.path());
    let (real, work) = (top.join("real"), top.join("work"));
    fs::create_dir_all(real.join("sub")).unwrap();
    symlink(&real, &work).unwrap();
    fs::write(real.join("plain"), "").unwrap();
    symlink("/etc/hosts", real.join("README.md")).unwrap();
    symlink(&top, real.join("up")).unwrap();
    let named = |name: &str| NamedFile::of(name, vec![work.join(name)], &work);
    for (name, to, way) in [
        ("plain", real.join("plain"), Way::Straight),
        ("new/file", real.join("new/file"), Way::Straight),
        ("sub/./x", real.join("sub/x"), Way::Straight),
        ("README.md", "/etc/hosts".into(), Way::Link),
        ("up/x", top.join("x"), Way::Link),
        ("sub/../plain", real.join("plain"), Way::Link),
        ("up/../x", top.parent().unwrap().join("x"), Way::Link),
    ] {
        let file = named(name);
        assert_eq!((file.leads_to, file.way), (to, way), "{name}");
    }
    assert_eq!(named("plain").shown(), None);
    assert_eq!(named("README.md").shown().as_deref(), Some("/etc/hosts, a link"));
    let several = NamedFile::of("x", vec![real.join("x"), top.join("x")], &work);
    let both = format!("{} or {}", real.join("x").display(), top.join("x").display());
    assert_eq!((several.way, several.shown()), (Way::Several, Some(both)));
}

#[test]
fn a_file_or_folder_that_becomes_a_link_has_moved() {
    let dir = tempfile::tempdir().unwrap();
    let top = fsio::resolved(dir.path());
    fs::create_dir_all(top.join("a")).unwrap();
    fs::write(top.join("a/t"), "").unwrap();
    let files = [NamedFile::of("a/t", vec![top.join("a/t")], &top)];
    assert_eq!(moved(&files), None);
    fs::rename(top.join("a"), top.join("b")).unwrap();
    symlink("b", top.join("a")).unwrap();
    let why = moved(&files).unwrap();
    assert!(why.contains(&format!("leads to {} now", top.join("b/t").display())), "{why}");
}
