//! The seeds of the fuzz targets as ordinary tests: each as it is, and changed a little.
//!
//! A target takes any bytes and panics if something does not hold. What the fuzzer has found lies
//! among the seeds, so that it is tried on every run of the tests. The changes are the same in each
//! run; [`CHANGES`] in the environment asks for more of them.

use std::{
    env, fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
};

/// Says how many changes of each seed are tried by chance.
pub const CHANGES: &str = "GANGLINE_SEED_CHANGES";
/// So many otherwise.
const USUAL: u64 = 100;
/// What is put into a text: signs that readers look at.
const PIECES: [&[u8]; 20] = [
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"\\",
    b"\n",
    b"\r",
    b"\\ud83d",
    b"\\ude80",
    b"null",
    b"0",
    b"-1",
    b"1e400",
    b"18446744073709551616",
    b"\xf0\x9f",
    b"\xff",
    b"data: ",
];

/// Tries a target on all seeds of `fuzz/corpus/` with that name.
///
/// # Panics
/// There are none, or the target panics; then the input was printed.
pub fn check(name: &str, target: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let mut tried = 0;
    for seed in fs::read_dir(&folder).unwrap() {
        let seed = seed.unwrap().path();
        let bytes = fs::read(&seed).unwrap();
        let many = env::var(CHANGES).ok().and_then(|many| many.parse().ok()).unwrap_or(USUAL);
        let mut chance = Chance(many);
        let by_chance = (0..many).map(|_| chance.change(&bytes));
        for input in changed(&bytes).into_iter().chain(by_chance) {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| target(&input))) {
                eprintln!("{}, as {:?}", seed.display(), String::from_utf8_lossy(&input));
                resume_unwind(panic);
            }
        }
        tried += 1;
    }
    assert!(tried > 0, "{} has no seeds", folder.display());
}

/// Returns the bytes, and the same cut off, and with a line left out, doubled and moved to the end.
fn changed(bytes: &[u8]) -> Vec<Vec<u8>> {
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut all = vec![bytes.to_vec()];
    all.extend((0..bytes.len()).step_by(1 + bytes.len() / 64).map(|end| bytes[..end].to_vec()));
    for at in 0..lines.len() {
        let (before, line, behind) = (lines[..at].concat(), lines[at], lines[at + 1..].concat());
        all.push([before.as_slice(), &behind].concat());
        all.push([before.as_slice(), line, line, &behind].concat());
        all.push([before.as_slice(), &behind, line].concat());
    }
    all
}

/// Numbers that look like chance and are the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }

    /// Changes a text at a few places: a piece goes, comes, or comes again.
    fn change(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for _ in 0..=self.below(4) {
            let from = self.below(bytes.len() + 1);
            let to = (from + self.below(12)).min(bytes.len());
            match self.below(4) {
                0 => drop(bytes.drain(from..to)),
                1 => {
                    drop(bytes.splice(from..from, PIECES[self.below(PIECES.len())].iter().copied()))
                }
                2 => drop(bytes.splice(from..to, PIECES[self.below(PIECES.len())].iter().copied())),
                _ => {
                    let again = bytes[from..(from + self.below(90)).min(bytes.len())].to_vec();
                    let at = self.below(bytes.len() + 1);
                    bytes.splice(at..at, again);
                }
            }
        }
        bytes
    }
}
