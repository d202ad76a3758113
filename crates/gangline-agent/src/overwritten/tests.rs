//! Files that an agent wants to write over, in a real folder.

use std::path::PathBuf;

use gangline_core::approval::view::{Around, whole};

use super::*;

/// What a reader sees of a write to that path.
fn shown(folder: &Path, closed: Vec<PathBuf>, path: &str) -> Vec<String> {
    let file = FileChange {
        path: path.to_owned(),
        leads_to: None,
        extent: FileExtent::Whole,
        change: Change::to("one\nTWO\nthree\n"),
    };
    let wanted = Wanted::Write { files: vec![file], more: None };
    let bounds = Bounds { open: Vec::new(), closed };
    let wanted = compared(wanted, (folder, &bounds), &Redactor::new(["secret-key".to_owned()]));
    whole(&wanted, Around { agent: "ada", asker: None, folder: "", home: None })
}

#[test]
fn a_write_over_a_file_is_shown_as_a_difference() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
    write("text", b"one\ntwo\nthree\n");
    write("keys", b"secret-key\n");
    write("long", "x".repeat(130 * 1024).as_bytes());
    write("image", &[0xff, 0xd8, 0xff]);
    let all = ["  + one", "  + TWO", "  + three"];
    let parts = ["  @@ -1,3 +1,3 @@", "    one", "  - two", "  + TWO", "    three"];
    let masked = ["  @@ -1,1 +1,3 @@", "  - ‹secret›", "  + one", "  + TWO", "  + three"];
    let unshown = "which are too many to compare or no text";
    let rows: [(&str, String, &[&str]); 5] = [
        ("text", "+1 −1 lines".to_owned(), &parts),
        ("keys", "+3 −1 lines; 1 known value is shown by its name".to_owned(), &masked),
        ("new", "+3 lines, a new file".to_owned(), &all),
        ("long", format!("+3 lines, the whole file; it holds 133120 bytes, {unshown}"), &all),
        ("image", format!("+3 lines, the whole file; it holds 3 bytes, {unshown}"), &all),
    ];
    for (name, counts, lines) in rows {
        let told = shown(dir.path(), Vec::new(), name);
        assert_eq!(told[0], format!("file: {name} ({counts})"));
        assert_eq!(told[1..], *lines, "{name}");
    }
}

/// Outside of the folder, behind a link and in what is closed nothing is read.
#[test]
fn nothing_is_read_that_is_not_the_agents() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("work");
    std::fs::create_dir(&folder).unwrap();
    for path in [dir.path().join("outside"), folder.join("closed")] {
        std::fs::write(path, "two\n").unwrap();
    }
    std::os::unix::fs::symlink(dir.path().join("outside"), folder.join("link")).unwrap();
    let outside = dir.path().join("outside").display().to_string();
    for path in ["../outside", &outside, "link", "closed"] {
        let told = shown(&folder, vec![fsio::resolved(&folder).join("closed")], path);
        assert!(told[0].ends_with("(+3 lines, the whole file)"), "{told:?}");
        assert_eq!(told[1..], ["  + one", "  + TWO", "  + three"]);
    }
}
