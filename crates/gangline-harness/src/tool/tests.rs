//! Shortening keeps head, tail and character boundaries.

use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn a_shortened_text_keeps_head_and_tail_and_says_what_is_missing(
        text in "\\PC{0,300}", limit in 0usize..200,
    ) {
        let short = shorten(text.clone(), limit);
        if text.len() <= limit {
            prop_assert_eq!(short, text);
        } else {
            let (head, rest) = short.split_once("\n[… ").unwrap();
            let (missing, rest) = rest.split_once(" bytes left out …]\n").unwrap();
            prop_assert!(text.starts_with(head) && text.ends_with(rest));
            prop_assert!(head.len() + rest.len() <= limit);
            let missing: usize = missing.parse().unwrap();
            prop_assert_eq!(head.len() + missing + rest.len(), text.len());
        }
    }
}
