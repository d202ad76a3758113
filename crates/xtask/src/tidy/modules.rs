//! No source is forgotten: each file under `src/` and `tests/it/` is declared by its parent, a
//! crate has one integration binary, and no module is called `mod.rs`.

#[cfg(test)]
mod tests;

use super::{Finding, Repo};

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in repo.files.rust() {
        let Some((folder, name)) = file.path.rsplit_once('/') else { continue };
        if name == "mod.rs" {
            let text = format!("the module's file is {folder}.rs");
            findings.push(Finding::fail(file.path, 0, text));
            continue;
        }
        if folder.starts_with("crates/") && folder.ends_with("/tests") && !folder.contains("/src/")
        {
            let text = "is an integration binary of its own: make it a module of tests/it/main.rs";
            findings.push(Finding::fail(file.path, 0, text));
            continue;
        }
        if is_root(folder, name) {
            continue;
        }
        let stem = name.trim_end_matches(".rs");
        let parents = parents(folder);
        let declared = parents
            .iter()
            .filter_map(|parent| repo.files.text(parent))
            .any(|text| declares(text, stem));
        if !declared {
            let there: Vec<_> =
                parents.iter().filter(|path| repo.files.contains(path)).cloned().collect();
            let place = if there.is_empty() { parents } else { there }.join(" or ");
            let text = format!("is never compiled: no `mod {stem};` in {place}");
            findings.push(Finding::fail(file.path, 0, text));
        }
    }
    findings
}

/// Files that cargo finds by itself, and files outside any crate's modules.
fn is_root(folder: &str, name: &str) -> bool {
    let in_modules = folder.contains("/src") || folder.contains("/tests/it");
    !in_modules
        || folder.ends_with("/src/bin")
        || name == "main.rs" && (folder.contains("/src/bin/") || is_top(folder))
        || name == "lib.rs" && folder.ends_with("/src")
}

fn is_top(folder: &str) -> bool {
    folder.ends_with("/src") || folder.ends_with("/tests/it")
}

/// Where modules of this folder are declared.
fn parents(folder: &str) -> Vec<String> {
    if is_top(folder) {
        let roots: &[&str] =
            if folder.ends_with("/src") { &["lib.rs", "main.rs"] } else { &["main.rs"] };
        return roots.iter().map(|root| format!("{folder}/{root}")).collect();
    }
    if folder.rsplit_once('/').is_some_and(|(above, _)| above.ends_with("/src/bin")) {
        return vec![format!("{folder}/main.rs")];
    }
    vec![format!("{folder}.rs")]
}

fn declares(text: &str, module: &str) -> bool {
    let end = format!("mod {module};");
    text.lines().map(str::trim).any(|line| {
        line.strip_suffix(&end).is_some_and(|before| {
            before.is_empty() || before.ends_with(' ') && !before.contains("//")
        })
    })
}
