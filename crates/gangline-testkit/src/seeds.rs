//! The seeds of the fuzz targets as ordinary tests: each as it is, and changed a little.
//!
//! A target takes any bytes and panics if something does not hold. What the fuzzer has found lies
//! among the seeds, so that it is tried on every run of the tests.

use std::{
    fs,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
};

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
        for input in changed(&bytes) {
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
