//! The code in `docs/adding-a-backend.md` is the code of the toy.

use std::{fs, path::PathBuf};

/// R0-66: each block of Rust in the guide stands in the toy's files as it is.
#[test]
fn the_guide_shows_the_code_that_runs() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let guide = fs::read_to_string(root.join("../../docs/adding-a-backend.md")).unwrap();
    let files = ["toy.rs", "toy/worker.rs", "toys.rs"];
    let read = |name: &str| fs::read_to_string(root.join("tests/it/conformance").join(name));
    let code: Vec<String> = files.into_iter().map(|name| read(name).unwrap()).collect();
    let blocks: Vec<&str> =
        guide.split("```rust\n").skip(1).map(|it| it.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 5);
    for block in blocks {
        assert!(code.iter().any(|text| text.contains(block)), "this is not in the toy:\n{block}");
    }
}
