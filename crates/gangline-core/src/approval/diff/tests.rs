use super::*;

fn check(change: &Change, expect: &[&str], counts: (usize, usize)) {
    assert_eq!(change.shown().collect::<Vec<_>>(), expect);
    assert_eq!(change.counts(), Counts { added: counts.0, removed: counts.1 });
}

#[test]
fn a_change_shows_what_comes_and_goes_and_three_lines_around() {
    let old = "1\n2\n3\n4\nold\n5\n6\n7\n8\n";
    let new = "1\n2\n3\n4\nnew\nnewer\n5\n6\n7\n8\n";
    let expect =
        ["    2", "    3", "    4", "  - old", "  + new", "  + newer", "    5", "    6", "    7"];
    check(&Change::between(old, new), &expect, (2, 1));
    check(&Change::between("a", "a"), &["    a"], (0, 0));
    check(&Change::between("", "a\nb"), &["  + a", "  + b"], (2, 0));
    check(&Change::between("a\na\n", "a\n"), &["    a", "  - a"], (0, 1));
}

#[test]
fn a_new_content_is_all_new_lines_and_nothing_in_it_is_hidden() {
    check(&Change::to("a\u{202e}b\n\tc\n"), &["  + a<U+202E>b", "  + <U+0009>c"], (2, 0));
    check(&Change::to("\n"), &[], (0, 0));
    check(&Change::to(""), &[], (0, 0));
}

#[test]
fn a_unified_diff_is_counted_without_its_headings() {
    let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n--- gone\n";
    let expect = [
        "  --- a/x",
        "  +++ b/x",
        "  @@ -1,2 +1,2 @@",
        "    one",
        "  - two",
        "  + 2",
        "  - -- gone",
    ];
    check(&Change::of_unified(text), &expect, (1, 2));
}
