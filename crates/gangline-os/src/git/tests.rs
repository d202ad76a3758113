//! Real repositories, made by the real git.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use tempfile::TempDir;

use super::{Authorship, GitError, ObjectId, Repository};

const BY: Authorship<'_> = Authorship { author: "oak-boss", message: "a change" };

#[allow(clippy::disallowed_methods, reason = "the world outside, as a person works in it")]
fn git(folder: &Path, args: &[&str]) {
    let who = ["-c", "user.name=ada", "-c", "user.email=ada@localhost"];
    let done = Command::new("git").current_dir(folder).args(who).args(args).output().unwrap();
    assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Returns a repository whose first commit has the file.
fn repository() -> (TempDir, Repository) {
    let folder = tempfile::tempdir().unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    fs::write(folder.path().join("agents.yaml"), "one\n").unwrap();
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "first"]);
    let repository = Repository::around(&folder.path().join("agents.yaml")).unwrap();
    (folder, repository)
}

/// R2-37: what is no commit is refused, also when git would take it for an option.
#[tokio::test]
async fn only_the_name_of_a_commit_is_one() {
    let (folder, repository) = repository();
    let head = repository.head().await.unwrap();
    assert_eq!(repository.commit("main").await.unwrap(), head);
    assert_eq!(repository.commit(head.short()).await.unwrap(), head);
    for name in ["", "--all", "-x", "nobody", "HEAD:agents.yaml", "main..main", "a\nb", "--"] {
        let told = repository.commit(name).await;
        assert!(matches!(told, Err(GitError::NotACommit(_))), "{name}: {told:?}");
    }
    let lonely = tempfile::tempdir().unwrap();
    let told = Repository::around(&lonely.path().join("agents.yaml"));
    assert!(matches!(told, Err(GitError::NoRepository(_))), "{told:?}");
    assert_eq!(ObjectId::parse("HEAD"), None);
    drop(folder);
}

/// A commit is made beside the work tree, gone over to, and gone back from by another commit.
#[tokio::test]
async fn a_change_is_a_commit_that_can_be_gone_over_to_and_undone() {
    let (folder, repository) = repository();
    let file = folder.path().join("agents.yaml");
    let first = repository.head().await.unwrap();
    let second = repository.with_file(&first, "one\ntwo\n", BY).await.unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\n");
    assert_eq!(repository.uncommitted().await.unwrap(), Vec::<String>::new());
    assert_eq!(repository.file_at(&second, 99).await.unwrap().unwrap(), "one\ntwo\n");
    assert!(repository.diff(&first, &second, 9999).await.unwrap().contains("\n+two"));
    let follows = repository.follows(&first, &second).await.unwrap();
    assert!(follows && !repository.follows(&second, &first).await.unwrap());
    repository.forward(&first, &second).await.unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\ntwo\n");
    assert_eq!(repository.head().await.unwrap(), second);
    let third = repository.with_files_of(&first, &second, BY).await.unwrap();
    repository.forward(&second, &third).await.unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "one\n");
    assert!(repository.is_same(&first, &third).await.unwrap());
    assert_eq!(repository.subject(&third).await.unwrap(), "a change");
    assert_eq!(repository.uncommitted().await.unwrap(), Vec::<String>::new());
}

/// Cut off between the files and the branch, it goes on; what somebody has not committed is not lost.
#[tokio::test]
async fn going_over_goes_on_where_it_was_cut_off_and_loses_nothing() {
    let (folder, repository) = repository();
    let file = folder.path().join("agents.yaml");
    let first = repository.head().await.unwrap();
    let second = repository.with_file(&first, "two\n", BY).await.unwrap();
    git(folder.path(), &["read-tree", "-m", "-u", first.as_str(), second.as_str()]);
    assert_eq!(repository.uncommitted().await.unwrap(), ["agents.yaml"]);
    repository.forward(&first, &second).await.unwrap();
    assert_eq!(repository.head().await.unwrap(), second);
    fs::write(&file, "mine\n").unwrap();
    let third = repository.with_file(&second, "three\n", BY).await.unwrap();
    assert!(repository.forward(&second, &third).await.is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
    assert_eq!(repository.head().await.unwrap(), second);
}

/// Nothing that a repository's settings name is run: hooks, filters, monitors, views of differences.
#[tokio::test]
async fn a_repository_starts_no_program() {
    let (folder, repository) = repository();
    let (top, mark) = (folder.path(), folder.path().join("ran"));
    let evil = top.join("evil.sh");
    fs::write(&evil, format!("#!/bin/sh\necho $0 >> {}\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(top.join(".git/hooks")).unwrap();
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "post-merge"] {
        fs::copy(&evil, top.join(".git/hooks").join(hook)).unwrap();
    }
    fs::write(top.join(".git/info/attributes"), "*.yaml filter=evil diff=evil\n").unwrap();
    let evil = evil.to_str().unwrap();
    let keys = [
        "filter.evil.smudge",
        "filter.evil.clean",
        "filter.evil.process",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.fsmonitor",
        "core.pager",
        "core.editor",
        "gpg.program",
    ];
    for key in keys {
        git(top, &["config", key, evil]);
    }
    git(top, &["config", "filter.evil.required", "true"]);
    git(top, &["config", "commit.gpgSign", "true"]);
    let first = repository.head().await.unwrap();
    let second = repository.with_file(&first, "two\n", BY).await.unwrap();
    repository.uncommitted().await.unwrap();
    assert!(repository.diff(&first, &second, 9999).await.unwrap().contains("+two"));
    repository.forward(&first, &second).await.unwrap();
    assert_eq!(fs::read_to_string(top.join("agents.yaml")).unwrap(), "two\n");
    assert_eq!(fs::read_to_string(&mark).unwrap_or_default(), "");
}

/// Every changed file is listed, also one that is no text, and a link is known with its target.
#[tokio::test]
async fn every_changed_file_is_listed_and_links_are_known() {
    let (folder, repository) = repository();
    let first = repository.head().await.unwrap();
    let put = |name: &str, text: &[u8]| fs::write(folder.path().join(name), text).unwrap();
    put("agents.yaml", b"two\nthree\n");
    put("a b.txt", b"new\n");
    put("x.bin", b"\0\x01");
    put("run.sh", b"echo\n");
    fs::set_permissions(folder.path().join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    for (target, link) in [("conf/real.json", "extra.json"), ("..", "up")] {
        std::os::unix::fs::symlink(target, folder.path().join(link)).unwrap();
    }
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-q", "-m", "second"]);
    let second = repository.head().await.unwrap();
    let changed = repository.changed(&first, &second).await.unwrap();
    let shown: Vec<String> =
        changed.iter().map(|it| format!("{} {} {:?}", it.status, it.path, it.lines)).collect();
    let expect = [
        "A a b.txt Some((1, 0))",
        "M agents.yaml Some((2, 1))",
        "A extra.json Some((1, 0))",
        "A run.sh Some((1, 0))",
        "A up Some((1, 0))",
        "A x.bin None",
    ];
    assert_eq!(shown, expect);
    assert_eq!(changed[3].modes.as_ref().unwrap().1, "100755");
    let links = repository.links(&second).await.unwrap();
    let links: Vec<(&str, &str)> = links.iter().map(|(at, to)| (&**at, &**to)).collect();
    assert_eq!(links, [("extra.json", "conf/real.json"), ("up", "..")]);
    assert!(repository.links(&first).await.unwrap().is_empty());
    assert_eq!(repository.changed(&second, &second).await.unwrap(), []);
}
