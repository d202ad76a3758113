//! Import circles: the modules of a crate import one another in one direction, so that each can be
//! read without those that are built on it. A parent and its children may import both ways. Start at
//! [`check`]; what a file imports is read in `circles/imports.rs`.

mod imports;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use self::imports::Path;
use super::{Finding, Repo};

/// A circle that stays, because without it the code would be worse.
struct Accepted {
    /// The file of the module whose children they are.
    parent: &'static str,
    /// All of them, sorted.
    members: &'static [&'static str],
    /// Why they stay.
    reason: &'static str,
}

const ACCEPTED: &[Accepted] = &[Accepted {
    parent: "crates/gangline-irc/src/server.rs",
    members: &["client", "paced", "state"],
    reason: "a long list waits with its client and asks the state for each line once its reader has \
             room: made beforehand, it would take memory without a bound",
}];

/// How many imports of a circle are shown.
const SHOWN: usize = 12;

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    compare(&circles(repo), ACCEPTED)
}

fn compare(circles: &[Circle], accepted: &[Accepted]) -> Vec<Finding> {
    let is = |circle: &Circle, one: &Accepted| {
        circle.parent == one.parent && circle.members.iter().eq(one.members)
    };
    let mut findings = Vec::new();
    for circle in circles.iter().filter(|circle| !accepted.iter().any(|one| is(circle, one))) {
        let (members, imports) = (circle.members.join(", "), &circle.imports);
        let more = imports.len().saturating_sub(SHOWN);
        let mut shown = imports[..imports.len() - more].join("; ");
        if more > 0 {
            shown.push_str(&format!("; and {more} more"));
        }
        let text = format!(
            "{members} import one another: give what they share a module of its own, or pass it \
             in ({shown})"
        );
        findings.push(Finding::fail(&circle.parent, 0, text));
    }
    for one in accepted.iter().filter(|one| !circles.iter().any(|circle| is(circle, one))) {
        let text = format!(
            "{} are no circle any more: take them out of the accepted ones (\"{}\")",
            one.members.join(", "),
            one.reason
        );
        findings.push(Finding::fail(one.parent, 0, text));
    }
    findings
}

/// Modules with one parent that import one another.
struct Circle {
    /// The parent's file.
    parent: String,
    members: Vec<String>,
    /// Who imports whom, and by which path.
    imports: Vec<String>,
}

fn circles(repo: &Repo) -> Vec<Circle> {
    let mut crates: BTreeMap<&str, Crate> = BTreeMap::new();
    for file in repo.files.rust() {
        let Some((folder, module)) = module_of(file.path) else { continue };
        crates.entry(folder).or_default().add(module, file.path, file.text);
    }
    crates.values().flat_map(Crate::circles).collect()
}

/// Returns the crate's folder and the path of the module; nothing for tests.
fn module_of(path: &str) -> Option<(&str, Path)> {
    let (folder, below) = path.strip_suffix(".rs")?.split_once("/src/")?;
    if !folder.starts_with("crates/") {
        return None;
    }
    let mut module: Path = below.split('/').map(str::to_owned).collect();
    if module.iter().any(|part| part == "tests" || part == "bin") {
        return None;
    }
    if matches!(below, "lib" | "main") {
        module.clear();
    }
    Some((folder, module))
}

/// The modules of a crate.
#[derive(Default)]
struct Crate {
    files: BTreeMap<Path, String>,
    imports: BTreeMap<Path, Vec<imports::Import>>,
}

/// Who imports whom among modules with one parent, and by which paths.
type Edges = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

impl Crate {
    fn add(&mut self, module: Path, path: &str, text: &str) {
        // A crate with a library and a program is taken as one.
        self.files.entry(module.clone()).or_insert_with(|| path.to_owned());
        self.imports.entry(module).or_default().extend(imports::read(text));
    }

    fn circles(&self) -> Vec<Circle> {
        let mut levels: BTreeMap<&[String], Edges> = BTreeMap::new();
        for (module, imports) in &self.imports {
            for import in imports {
                let Some(target) = self.target(module, &import.path) else { continue };
                let common = module.iter().zip(&target).take_while(|(one, other)| one == other);
                let common = common.count();
                let (Some(from), Some(to)) = (module.get(common), target.get(common)) else {
                    continue; // one of them is above the other
                };
                let edges = levels.entry(&module[..common]).or_default();
                let shown = format!("{from} → {to} by {}", import.path.join("::"));
                edges.entry(from.clone()).or_default().entry(to.clone()).or_default().insert(shown);
            }
        }
        let circle = |(parent, edges): (&&[String], &Edges)| {
            let file = self.files.get(*parent).cloned().unwrap_or_default();
            groups(edges)
                .into_iter()
                .map(move |members| Circle {
                    parent: file.clone(),
                    imports: within(edges, &members),
                    members: members.into_iter().collect(),
                })
                .collect::<Vec<_>>()
        };
        levels.iter().flat_map(circle).collect()
    }

    /// Returns the module that a path leads to; nothing for one that leads out of the crate.
    fn target(&self, from: &[String], path: &[String]) -> Option<Path> {
        Some(self.resolve(self.absolute(from, path)?, 0))
    }

    fn absolute(&self, from: &[String], path: &[String]) -> Option<Path> {
        let first = path.first()?.as_str();
        let above = path.iter().take_while(|part| *part == "super").count();
        let (base, rest) = match first {
            "crate" => (&[][..], 1),
            "self" => (from, 1),
            "super" => (&from[..from.len().checked_sub(above)?], above),
            _ if self.files.contains_key(&[from, &path[..1]].concat()) => (from, 0),
            _ => return None,
        };
        let rest = path[rest..].iter().filter(|part| *part != "self");
        Some(base.iter().chain(rest).cloned().collect())
    }

    /// Follows imports and re-exports: an item that a module only passes on is its maker's.
    fn resolve(&self, path: Path, depth: usize) -> Path {
        const DEEPEST: usize = 8;
        let is_module = |length: &usize| self.files.contains_key(&path[..*length]);
        let length = (0..=path.len()).rev().find(is_module).unwrap_or_default();
        let (module, rest) = path.split_at(length);
        if let Some((name, behind)) = rest.split_first() {
            let passed = self.imports.get(module).into_iter().flatten();
            let passed = passed.filter(|import| import.name.as_ref() == Some(name));
            for import in passed {
                let Some(mut next) = self.absolute(module, &import.path) else { continue };
                next.extend(behind.iter().cloned());
                if next != path && depth < DEEPEST {
                    return self.resolve(next, depth + 1);
                }
            }
        }
        module.to_vec()
    }
}

/// Returns the groups of modules of which each reaches each other.
fn groups(edges: &Edges) -> Vec<BTreeSet<String>> {
    let reached: BTreeMap<&String, BTreeSet<&String>> =
        edges.keys().map(|from| (from, reach(edges, from))).collect();
    let mut groups: Vec<BTreeSet<String>> = Vec::new();
    for (from, to) in &reached {
        let back = |it: &&&String| reached.get(**it).is_some_and(|it| it.contains(from));
        let group: BTreeSet<String> = to.iter().filter(back).map(|it| (*it).clone()).collect();
        if group.len() > 1 && !groups.contains(&group) {
            groups.push(group);
        }
    }
    groups
}

/// Returns what a module imports, and what is imported by that, and so on.
fn reach<'a>(edges: &'a Edges, from: &'a String) -> BTreeSet<&'a String> {
    let mut reached = BTreeSet::new();
    let mut next = vec![from];
    while let Some(from) = next.pop() {
        for to in edges.get(from).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(to) {
                next.push(to);
            }
        }
    }
    reached
}

/// Returns the imports between members, one of each pair.
fn within(edges: &Edges, members: &BTreeSet<String>) -> Vec<String> {
    let of_member = edges.iter().filter(|(from, _)| members.contains(*from));
    let pairs = of_member.flat_map(|(_, to)| to.iter().filter(|(to, _)| members.contains(*to)));
    pairs.filter_map(|(_, shown)| shown.first().cloned()).collect()
}
