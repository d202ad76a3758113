use std::process::ExitCode;

use super::{Report, Skips, closing_lines, exit_code, has_example};

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

#[test]
fn the_closing_lines_begin_at_the_runners_summary() {
    let tail = lines("  SLOW a\n     Summary [ 1.0s] 3 tests run: 2 passed, 1 failed\n  FAIL b");
    assert_eq!(closing_lines(&tail), ["Summary [ 1.0s] 3 tests run: 2 passed, 1 failed", "FAIL b"]);
}

#[test]
fn without_a_summary_the_last_lines_are_shown() {
    assert_eq!(closing_lines(&lines("1\n2\n3\n4\n5\n6\n7")), ["3", "4", "5", "6", "7"]);
    assert_eq!(closing_lines(&lines("error: x")), ["error: x"]);
}

#[test]
fn a_skipped_test_fails_a_run_that_allows_none() {
    let clean = Report::default();
    let skipped = Report { skipped: vec!["a: no root".to_owned()], ..Report::default() };
    for (report, skips, expected) in [
        (&clean, Skips::Fail, ExitCode::SUCCESS),
        (&clean, Skips::Count, ExitCode::SUCCESS),
        (&skipped, Skips::Count, ExitCode::SUCCESS),
        (&skipped, Skips::Fail, ExitCode::FAILURE),
    ] {
        assert_eq!(exit_code(report, skips), expected);
    }
}

/// A text block ends with what begins an example elsewhere: one of them built a crate and all that it
/// needs once more, for no test.
#[test]
fn only_blocks_of_rust_are_examples() {
    for text in [
        "/// ```\n/// x();\n/// ```",
        "    //! ```rust,no_run",
        "/// ```text\n/// a\n/// ```\n///\n/// ``` should_panic edition2024\n/// ```",
        "/// ```text\nfn never_closed() {}\n/// ```\n/// x();\n/// ```",
    ] {
        assert!(has_example(text), "{text}");
    }
    for text in [
        "",
        "/// ```text\n/// a\n/// ```",
        "//! ```sh\n//! $ a\n//! ```\nfn f() {}\n/// ```json\n/// {}\n/// ```",
        "/// `a` is no block\nlet text = \"```\";",
    ] {
        assert!(!has_example(text), "{text}");
    }
}
