//! Where files that shall be run are looked for, and what a script wants besides.

use std::os::unix::fs::PermissionsExt;

use super::*;

fn script(folder: &Path, name: &str, text: &str, mode: u32) {
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_file_is_found_as_its_starter_finds_it() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    script(here, "good", "#!/bin/sh\n", 0o755);
    script(here, "plain", "#!/bin/sh\n", 0o644);
    script(here, "node-less", "#!/usr/bin/env -S nodejsx --flag\n", 0o755);
    script(here, "env", "#!/usr/bin/env A=b sh\n", 0o755);
    script(here, "lost", "#!/opt/nowhere/ruby\n", 0o755);
    script(here, "binary", "\u{7f}ELF", 0o755);
    fs::create_dir(here.join("dir")).unwrap();
    let path = format!("{}:/usr/bin:/bin", here.display());
    let shown = |name: &str| here.join(name).display().to_string();
    for (name, wanted) in [
        ("good", Ok(shown("good"))),
        ("./good", Ok(shown("good"))),
        ("env", Ok(shown("env"))),
        ("binary", Ok(shown("binary"))),
        ("gone", Err("`gone` is not on the PATH".to_owned())),
        // What is not executable is passed over on the PATH.
        ("plain", Err("`plain` is not on the PATH".to_owned())),
        ("./plain", Err(format!("{} is not executable: `chmod +x` it", shown("plain")))),
        ("./dir", Err(format!("{} is no file", shown("dir")))),
        ("./gone", Err(format!("{} is not there", shown("gone")))),
        ("", Err("no program is named".to_owned())),
        (
            "node-less",
            Err(format!("{} is a script, and `nodejsx` is not on the PATH", shown("node-less"))),
        ),
        ("lost", Err(format!("{} is a script, and /opt/nowhere/ruby is not there", shown("lost")))),
    ] {
        let plain = |text: String| text.replace("/./", "/");
        let found = locate(name, &path, here).file().map(|file| file.display().to_string());
        assert_eq!(found.map(plain).map_err(plain), wanted, "{name}");
    }
}
