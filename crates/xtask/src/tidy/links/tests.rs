use super::check;
use crate::tidy::{repo_of, said};

fn findings(path: &str, text: &str) -> Vec<String> {
    let files = [
        (path, text),
        ("docs/style.md", "# House style\n\n## No `unwrap`, ever\n"),
        ("a/b.rs", ""),
    ];
    said(&check(&repo_of(&files)))
}

#[test]
fn links_to_files_folders_headings_and_the_web_pass() {
    let text = "[s](docs/style.md) [d](docs/) [h](docs/style.md#no-unwrap-ever)\n\
                [w](https://example.org/x) [m](mailto:a@b.c) [r](./a/../a/b.rs)\n";
    assert_eq!(findings("README.md", text), [""; 0]);
    assert_eq!(findings("docs/more.md", "[s](style.md) [r](../README.md) [d](../a)").len(), 1);
}

#[test]
fn a_link_to_nothing_is_found_with_its_line() {
    assert_eq!(
        findings("README.md", "x\n[s](docs/stile.md)\n"),
        ["README.md:2: fail: docs/stile.md: no such file"]
    );
    assert_eq!(
        findings("README.md", "[s](docs/style.md#none)"),
        ["README.md:1: fail: docs/style.md#none: no such heading"]
    );
    assert_eq!(
        findings("README.md", "[s](../x.md)"),
        ["README.md:1: fail: ../x.md: leads out of the repository"]
    );
}

/// R1-55: no page is left out of the index.
#[test]
fn a_page_that_the_index_does_not_list_is_found() {
    assert_eq!(findings("docs/README.md", "[s](style.md)\n"), [""; 0]);
    let missing =
        ["docs/README.md: fail: does not list docs/style.md: add it where a reader needs it"];
    assert_eq!(findings("docs/README.md", "nothing\n"), missing);
}

#[test]
fn code_is_no_link() {
    assert_eq!(findings("README.md", "`a[0](x.md)`\n```\n[s](x.md)\n```\n"), [""; 0]);
}
