//! Tests of the shapes: the patterns, and the signs that go before them.

use proptest::{prelude::*, strategy::Union, string::string_regex};

use super::*;

#[test]
fn every_pattern_compiles() {
    let shapes = &*SHAPES;
    let all = [&shapes.plain, &shapes.bordered, &shapes.loose, &shapes.pem_begin, &shapes.pem_end];
    assert!(all.iter().all(|shape| shape.is_some()));
}

/// Some text that one of the patterns finds.
fn secret() -> impl Strategy<Value = String> {
    let patterns = PLAIN.iter().chain(BORDERED).chain([&LOOSE, &PEM_BEGIN]);
    Union::new(patterns.map(|pattern| string_regex(pattern).unwrap()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    /// A short text is as safe as a long one: whatever a pattern finds shows a sign first.
    #[test]
    fn what_has_a_shape_shows_a_sign(secret in secret()) {
        prop_assert!(suspicious(&secret), "{secret}");
    }
}

#[test]
fn every_beginning_of_a_shape_is_a_sign() {
    for shape in [
        "sk-ant-x",
        "ghp_x",
        "gho_x",
        "ghu_x",
        "ghs_x",
        "ghr_x",
        "github_pat_x",
        "xoxb-x",
        "glpat-x",
        "glt_0",
        "eyJx",
        "AKIAX",
        "AIzax",
        "hf_x",
        "sk-x",
        "-----BEGIN PRIVATE KEY-----",
    ] {
        assert!(suspicious(shape), "{shape}");
    }
}

#[test]
fn plain_words_are_no_sign_and_long_text_always_is_one() {
    assert!(!suspicious("do the tests pass? see https://example.org/a_b-c"));
    assert!(suspicious(&"a".repeat(SHORT + 1)));
}
