//! Where the front matter ends, whatever the file looks like.

use proptest::prelude::*;

use super::*;

#[test]
fn the_front_matter_is_between_two_lines_of_dashes() {
    for (text, front, body) in [
        ("---\nname: a\n---\nbody", Some("name: a\n"), "body"),
        ("\u{feff}---\r\nname: a\r\n---\r\nbody", Some("name: a\r\n"), "body"),
        ("---\n---\n", Some(""), ""),
        ("---\nname: a\n", None, "---\nname: a\n"),
        ("body\n---\nx\n---\n", None, "body\n---\nx\n---\n"),
        ("", None, ""),
        ("---", None, "---"),
    ] {
        assert_eq!(split(text), (front, body), "{text:?}");
    }
}

proptest! {
    #[test]
    fn any_file_is_split_without_loss(text in "(---\n|[a-z:]{0,3}\n|\u{feff}|-){0,12}") {
        let (front, body) = split(&text);
        let length = front.map_or(0, |front| front.len() + 4);
        prop_assert!(text.ends_with(body) && length + body.len() <= text.len());
    }
}
