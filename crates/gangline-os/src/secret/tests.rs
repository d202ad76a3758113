//! Tests of what a secret shows and compares.

use std::collections::BTreeSet;

use super::*;

#[test]
fn a_secret_shows_stars_and_nothing_else() {
    let secret = Secret::new("hunter2hunter2");
    assert_eq!(format!("{secret} {secret:?} {:?}", Some(&secret)), "*** *** Some(***)");
    assert_eq!(secret.expose(), "hunter2hunter2");
}

#[test]
fn only_the_same_text_matches() {
    let secret = Secret::new("abc");
    assert!(secret.matches("abc"));
    for other in ["", "ab", "abd", "abcd", "bbc"] {
        assert!(!secret.matches(other), "{other}");
    }
    assert_eq!(secret, Secret::from("abc".to_owned()));
    assert_ne!(secret, Secret::default());
}

#[test]
fn tokens_are_64_hex_digits_and_never_the_same() {
    let tokens: BTreeSet<String> = (0..200).map(|_| random_token().expose().to_owned()).collect();
    assert_eq!(tokens.len(), 200);
    for token in tokens {
        assert_eq!(token.len(), 64);
        assert!(token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    }
}

#[test]
fn passwords_are_26_plain_characters_and_never_the_same() {
    let all: BTreeSet<String> = (0..200).map(|_| random_password().expose().to_owned()).collect();
    assert_eq!(all.len(), 200);
    let mut seen: Vec<BTreeSet<u8>> = vec![BTreeSet::new(); 26];
    for password in all {
        assert_eq!(password.len(), 26, "{password}");
        for (digit, seen) in password.bytes().zip(&mut seen) {
            assert!(DIGITS.contains(&digit), "{password}");
            seen.insert(digit);
        }
    }
    // The first has three bits, each other one five: none is fixed, as a UUID's version is.
    for (place, seen) in seen.iter().enumerate() {
        let most = if place == 0 { 8 } else { 32 };
        assert!(seen.len() > most / 2 && seen.len() <= most, "place {place}: {seen:?}");
    }
}
