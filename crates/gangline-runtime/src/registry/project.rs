//! What a project says about its backend (R3-13): a name, never a program. Looked for from the
//! agent's folder upwards to the root of its repository, in files of this user or of root.

use std::{
    fs,
    path::{Path, PathBuf},
};

use gangline_os::fsio;

use super::{
    forms,
    item::{Files, Said},
    source::{Problem, Source},
};

/// The files, the stronger first.
const FILES: [&str; 2] = [".gangline/runtime.json", ".gastown/runtime.json"];
/// How many folders are looked at.
const DEPTH: usize = 40;

/// Reads what is said about a folder, the stronger first. Above its repository only the rig is
/// looked at; a folder in no repository speaks for itself alone.
pub(super) fn read(directory: &Path, rig: Option<&Path>, files: &mut Files) {
    for folder in folders(directory, rig) {
        for name in FILES {
            let file = folder.join(name);
            if fs::metadata(&file).is_ok_and(|about| !fsio::is_ours(&about)) {
                let source = Source::File { file, line: 1, path: String::new() };
                let message = "it belongs to another user and is not read".to_owned();
                files.problems.push(Problem { source, message });
                continue;
            }
            forms::file(&file, files, |root, files| {
                for (key, node) in root.members()? {
                    match key.as_str() {
                        "runtime" => {
                            let said: Said = forms::said(&node, false)?;
                            files.defaults.push(said);
                        }
                        _ => forms::ignore(&node, files),
                    }
                }
                Ok(())
            });
        }
    }
}

fn folders(directory: &Path, rig: Option<&Path>) -> Vec<PathBuf> {
    let ours = |path: &Path| fs::metadata(path).is_ok_and(|about| fsio::is_ours(&about));
    let above = directory.ancestors().skip(1).take_while(|folder| ours(folder));
    let up: Vec<&Path> = std::iter::once(directory).chain(above).take(DEPTH).collect();
    let root = up.iter().position(|folder| ours(&folder.join(".git")));
    let mut folders: Vec<PathBuf> =
        up.into_iter().take(root.map_or(1, |root| root + 1)).map(Path::to_owned).collect();
    if let Some(rig) = rig.filter(|rig| folders.iter().all(|folder| folder != rig)) {
        folders.push(rig.to_owned());
    }
    folders
}
