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
