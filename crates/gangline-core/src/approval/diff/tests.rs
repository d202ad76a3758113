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

#[test]
fn a_whole_file_is_compared_part_by_part() {
    let old: Vec<String> = (1..=20).map(|number| format!("line {number}")).collect();
    let mut new = old.clone();
    "LINE 2".clone_into(&mut new[1]);
    new.remove(17);
    let change = Change::compared(&format!("{}\n", old.join("\n")), &new.join("\n"));
    assert_eq!(change.counts(), Counts { added: 1, removed: 2 });
    let shown: Vec<String> = change.shown().collect();
    let expect = [
        "  @@ -1,5 +1,5 @@",
        "    line 1",
        "  - line 2",
        "  + LINE 2",
        "    line 3",
        "    line 4",
        "    line 5",
        "  @@ -15,6 +15,5 @@",
        "    line 15",
        "    line 16",
        "    line 17",
        "  - line 18",
        "    line 19",
        "    line 20",
    ];
    assert_eq!(shown, expect);
    assert_eq!(Change::compared("same\n", "same"), Change::default());
    let emptied = Change::compared("gone\n", "");
    assert_eq!(emptied.counts(), Counts { added: 0, removed: 1 });
    assert_eq!(Change::to("a\nb\n").content(), "a\nb");
}

#[test]
fn lines_that_come_with_odd_characters_are_counted_and_marked() {
    let new = "a\n\u{440}m x\r\nb\u{202e}c\nd\r\n";
    let change = Change::between("\u{440}m y\n", new);
    assert_eq!(change.odd(), Odd { alike: 1, unseen: 1 });
    let notes = change.odd().notes();
    let unseen = "1 line has characters that show nothing, written as `<U+…>`";
    assert_eq!(notes, ["1 line has a letter that looks like another", unseen]);
    assert_eq!(
        change.shown().collect::<Vec<_>>(),
        [
            "  - \u{440}m y",
            "  + a",
            "  + \u{440}m x<U+000D>",
            "      note: in `\u{440}m` stands `\u{440}` (U+0440), which looks like `p`",
            "  + b<U+202E>c",
            "  + d<U+000D>",
        ]
    );
    assert_eq!(Change::to("plain\n").odd().notes(), [""; 0]);
}
