//! The table against Unicode's own, and what is drawn like our words.

use unicode_security::confusable_detection::skeleton;

use super::*;

fn of(text: &str) -> String {
    folded(text).collect()
}

#[test]
fn what_is_drawn_alike_is_the_same() {
    for text in [
        "gangline",
        "Gаngline",
        "ｇａｎｇｌｉｎｅ",
        "ɡanglıne",
        "𝐠𝖆𝓷gline",
        "g a\u{200b}n\u{ad}gline",
    ] {
        assert_eq!(of(text), of("gangline"), "{text}");
    }
    assert_eq!(of("ɡangǁne"), of("gangline"));
    assert_eq!(of("IRC DM"), of("1rc drn"));
    assert_ne!(of("gangster"), of("gangline"));
    assert_eq!(of("барон"), of("барон"));
}

/// Each character that Unicode takes for one of the letters of our headings is taken for it here.
#[test]
fn the_table_has_every_character_of_unicodes_for_our_letters() {
    let words = ["irc@", "ircdm", "ircchannel", "supervisor", "gangline"].map(of);
    let ours = |seen: &str| words.iter().any(|word| word.contains(seen));
    let (mut checked, mut missing) = (0, Vec::new());
    for c in ('\u{80}'..='\u{1ffff}').filter(|c| !is_hidden(*c)) {
        let prototype: String = skeleton(&c.to_string()).collect();
        if !prototype.is_ascii() {
            continue;
        }
        let expect = of(&prototype);
        if expect.is_empty() || !ours(&expect) {
            continue;
        }
        checked += 1;
        if of(&c.to_string()) != expect {
            missing.push(format!("{expect} {:x}", u32::from(c)));
        }
    }
    assert_eq!(missing, Vec::<String>::new());
    assert!(checked > 900, "{checked}");
}

#[test]
fn brackets_are_known_by_their_look() {
    for c in "[［【〔⟦❲﹝｢⁅".chars() {
        assert!(is_bracket(c), "{c}");
    }
    for c in "]({<aㄷ".chars() {
        assert!(!is_bracket(c), "{c}");
    }
    for c in "<＜‹﹤⟨𐌭".chars() {
        assert!(is_like(c, '<'), "{c}");
    }
    for c in ">＞›﹥⟩".chars() {
        assert!(is_like(c, '>'), "{c}");
    }
    assert!(!is_like('«', '<'));
}
