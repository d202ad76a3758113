//! What a project says about its backend (R3-13): a name, never a program. Looked for from the
//! agent's folder upwards to the root of its repository.

use std::path::{Path, PathBuf};

use super::{
    forms,
    item::{Files, Said},
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
            forms::file(&folder.join(name), files, |root, files| {
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
    let up: Vec<&Path> = directory.ancestors().take(DEPTH).collect();
    let root = up.iter().position(|folder| folder.join(".git").exists());
    let mut folders: Vec<PathBuf> =
        up.into_iter().take(root.map_or(1, |root| root + 1)).map(Path::to_owned).collect();
    if let Some(rig) = rig.filter(|rig| folders.iter().all(|folder| folder != rig)) {
        folders.push(rig.to_owned());
    }
    folders
}
