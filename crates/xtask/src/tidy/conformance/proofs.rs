//! The tests of the workspace and the requirements that their doc comments name. Start at
//! [`Proofs::find`].

use std::collections::{BTreeMap, BTreeSet};

use super::ids;
use crate::tidy::Tree;

/// Every test function by its full name, such as `gangline-core::turn::tests::it_ends_once`.
pub(super) struct Proofs {
    tests: BTreeMap<String, BTreeSet<String>>,
}

impl Proofs {
    /// Reads the sources: a function whose attributes make it a test, with the comment above it.
    pub(super) fn find(files: &Tree) -> Self {
        let mut tests: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for file in files.rust() {
            let Some(module) = module(file.path) else { continue };
            for (name, named) in tests_in(file.text) {
                tests.entry(format!("{module}::{name}")).or_default().extend(named);
            }
        }
        Self { tests }
    }

    /// Whether there is such a test. Of the path between crate and name, parts may be left out.
    pub(super) fn has(&self, proof: &str) -> bool {
        self.matching(proof).next().is_some()
    }

    /// Whether the doc comment of such a test names the requirement.
    pub(super) fn names(&self, proof: &str, id: &str) -> bool {
        self.matching(proof).any(|(_, ids)| ids.contains(id))
    }

    /// The tests that name the requirement.
    pub(super) fn of(&self, id: &str) -> Vec<&str> {
        self.tests
            .iter()
            .filter(|(_, ids)| ids.contains(id))
            .map(|(name, _)| name.as_str())
            .collect()
    }

    fn matching<'a>(
        &'a self,
        proof: &'a str,
    ) -> impl Iterator<Item = (&'a String, &'a BTreeSet<String>)> {
        self.tests.iter().filter(move |(name, _)| stands_for(proof, name))
    }
}

/// Whether the proof has the crate and the function of the full name, and between them nothing
/// that the full name lacks.
fn stands_for(proof: &str, name: &str) -> bool {
    let (proof, name): (Vec<_>, Vec<_>) = (proof.split("::").collect(), name.split("::").collect());
    let [proof_crate, proof_path @ .., proof_test] = proof.as_slice() else { return false };
    let [name_crate, name_path @ .., name_test] = name.as_slice() else { return false };
    let mut rest = name_path.iter();
    proof_crate.replace('_', "-") == *name_crate
        && proof_test == name_test
        && proof_path.iter().all(|part| rest.any(|other| other == part))
}

/// `crates/a/src/b/tests.rs` is `a::b::tests`; `crates/a/tests/it/c.rs` is `a::it::c`. This tool
/// proves nothing about the product, and its tests hold texts that look like tests.
fn module(path: &str) -> Option<String> {
    let (package, inner) = path.strip_prefix("crates/")?.split_once('/')?;
    if package == "xtask" {
        return None;
    }
    let inner = inner.strip_prefix("src/").or_else(|| inner.strip_prefix("tests/"))?;
    let mut parts = vec![package];
    parts.extend(inner.strip_suffix(".rs")?.split('/'));
    if parts.last().is_some_and(|last| ["lib", "main"].contains(last)) {
        parts.pop();
    }
    Some(parts.join("::"))
}

/// A function of a source.
struct Function<'a> {
    name: &'a str,
    is_test: bool,
    /// What its doc comment names.
    ids: Vec<String>,
    /// The words in its body: what it may call.
    words: BTreeSet<&'a str>,
}

/// Test functions of a source, with the ids that their doc comments name. What the comment of a
/// helper names counts for each test of the same file that calls it, directly or through another.
fn tests_in(text: &str) -> Vec<(&str, BTreeSet<String>)> {
    let functions = functions_in(text);
    let tests = functions.iter().filter(|function| function.is_test);
    tests
        .map(|test| {
            let mut ids: BTreeSet<String> = test.ids.iter().cloned().collect();
            let (mut seen, mut queue) = (BTreeSet::from([test.name]), vec![test]);
            while let Some(caller) = queue.pop() {
                let helpers = functions.iter().filter(|other| !other.is_test);
                for helper in helpers.filter(|other| caller.words.contains(other.name)) {
                    if seen.insert(helper.name) {
                        ids.extend(helper.ids.iter().cloned());
                        queue.push(helper);
                    }
                }
            }
            (test.name, ids)
        })
        .collect()
}

fn functions_in(text: &str) -> Vec<Function<'_>> {
    let mut found: Vec<Function<'_>> = Vec::new();
    let (mut comment, mut is_test) = (String::new(), false);
    for line in text.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("///") {
            comment.push_str(words);
            comment.push('\n');
        } else if line.starts_with("#[") {
            is_test |= line.starts_with("#[test]")
                || line.starts_with("#[tokio::test]")
                || line.starts_with("#[tokio::test(");
        } else if !line.starts_with("//") {
            if let Some(name) = function(line) {
                let ids = ids::named_in(&comment);
                found.push(Function { name, is_test, ids, words: BTreeSet::new() });
            } else if let Some(last) = found.last_mut() {
                last.words.extend(line.split(|c: char| !(c.is_alphanumeric() || c == '_')));
            }
            comment.clear();
            is_test = false;
        }
    }
    found
}

/// The name of the function that begins on this line.
fn function(line: &str) -> Option<&str> {
    let line =
        line.strip_prefix("pub(crate) ").or_else(|| line.strip_prefix("pub ")).unwrap_or(line);
    let line = line.strip_prefix("async ").unwrap_or(line);
    let name = line.strip_prefix("fn ")?;
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    Some(&name[..end])
}
