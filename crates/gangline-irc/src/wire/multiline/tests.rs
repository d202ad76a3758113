//! Texts of several lines, there and back.

use super::*;

#[test]
fn lines_come_back_as_they_were_put_in() {
    use Follows::{Anew, On};
    for written in [
        &[("one", Anew)][..],
        &[("one", Anew), ("", Anew), ("two ", Anew), ("more", On)],
        &[("", Anew), ("one", Anew)],
        &[("one", Anew), ("", Anew)],
        &[("a", Anew), ("b", On), ("c", On), ("d", Anew)],
    ] {
        let mut text = String::new();
        for (at, (line, follows)) in written.iter().enumerate() {
            push(&mut text, at == 0, line, *follows);
        }
        assert_eq!(lines(&text).collect::<Vec<_>>(), written);
        assert_eq!(is_several(&text), written.len() > 1);
    }
}
