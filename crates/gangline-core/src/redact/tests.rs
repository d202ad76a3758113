//! Tests of the redactor: named shapes, forms of known values, and that nothing survives.

use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::*;

fn check(secrets: &[&str], text: &str, expect: &str) {
    let redactor = Redactor::new(secrets.iter().map(|secret| (*secret).to_owned()));
    assert_eq!(redactor.redact(text).as_str(), expect);
}

#[test]
fn a_known_value_is_masked_wherever_it_stands() {
    check(&["hunter2hunter2"], "hunter2hunter2", "[masked]");
    check(&["hunter2hunter2"], "a=hunter2hunter2;b", "a=[masked];b");
    check(&["hunter2hunter2\n"], "x hunter2hunter2", "x [masked]");
}

#[test]
fn long_text_is_masked_as_short_text_is() {
    let filler = "plain words ".repeat(SHORT / 8);
    let key = "AKIA0123456789ABCDEF";
    let known = &["hunter2hunter2", "correct horse"];
    check(
        known,
        &format!("{filler}hunter2hunter2 {key} end"),
        &format!("{filler}[masked] [masked] end"),
    );
    check(known, &format!("{filler}correct horse"), &format!("{filler}[masked]"));
    check(known, &filler, &filler);
    check(&[], &format!("{filler}{key}"), &format!("{filler}[masked]"));
}

/// A password that is replaced while the program runs is masked from then on, and so is the old one.
#[test]
fn a_secret_that_comes_later_is_masked_as_well() {
    let values = Arc::new(Mutex::new(Vec::new()));
    let given = Arc::clone(&values);
    let redactor = Redactor::new(["old-old-old".to_owned()])
        .with_later(move || std::mem::take(&mut *given.lock().unwrap()));
    let clone = redactor.clone();
    let text = "old-old-old new-new-new";
    assert_eq!(redactor.redact(text).as_str(), "[masked] new-new-new");
    *values.lock().unwrap() = vec![KnownSecret::new("new", "new-new-new")];
    for redactor in [&redactor, &clone, &redactor] {
        assert_eq!(redactor.redact(text).as_str(), "[masked] [masked]");
    }
}

#[test]
fn a_short_value_is_no_secret() {
    check(&["abc", "  ", ""], "abc is fine", "abc is fine");
}

#[test]
fn overlapping_secrets_are_masked_together() {
    check(&["abcdefgh", "efghijkl"], "<abcdefghijkl>", "<[masked]>");
    check(&["abcdefgh", "abcdefghij"], "<abcdefghij>", "<[masked]>");
    check(&["abcabcab"], "<abcabcabcab>", "<[masked]>");
}

#[test]
fn a_secret_is_masked_json_escaped_once_and_twice() {
    let secret = "pa\"ss\\word\nfür";
    check(&[secret], r#"{"a":"pa\"ss\\word\nfür"}"#, r#"{"a":"[masked]"}"#);
    check(&[secret], r#"{"a":"pa\"ss\\word\nf\u00fcr"}"#, r#"{"a":"[masked]"}"#);
    check(&[secret], r#""pa\\\"ss\\\\word\\nfür""#, r#""[masked]""#);
    check(&[secret], "pa\"ss\\word\nfür", "[masked]");
    check(&[secret], "pa\"ss\\word\r\nfür", "[masked]");
}

#[test]
fn one_line_of_a_multi_line_key_is_masked_by_itself() {
    check(&["head line\nMIIEvQIBADANBgkqhkiG\ntail"], "> MIIEvQIBADANBgkqhkiG", "> [masked]");
}

#[test]
fn characters_that_show_nothing_do_not_hide_a_secret() {
    check(&["hunter2hunter2"], "a hunter2\u{2}hun\u{200b}ter2 b", "a [masked] b");
    check(&[], "AKIA\u{0}ABCDEFGHIJKLMNOP.", "[masked].");
}

#[test]
fn key_shapes_are_masked() {
    let digits = "0123456789abcdefABCDEF0123456789abcdef";
    for head in [
        "sk-ant-api03-",
        "sk-",
        "sk-proj-",
        "ghp_",
        "gho_",
        "ghs_",
        "github_pat_",
        "AIza",
        "xoxb-",
        "xoxp-",
        "xoxa-",
        "glpat-",
        "hf_",
    ] {
        check(&[], &format!("key {head}{digits}, so"), "key [masked], so");
        check(&[], &format!(r#""x\n{head}{digits}""#), r#""x\n[masked]""#);
    }
    check(&[], "AKIAIOSFODNN7EXAMPLE", "[masked]");
    // What an agent's daemon gives its children.
    check(
        &[],
        "GANGLINE_TOKEN=glt_0123456789abcdef0123456789abcdef\n",
        "GANGLINE_TOKEN=[masked]\n",
    );
    // What a program outside is given: the whole of it is masked.
    check(&[], &format!("glt_{}\n", "0123456789abcdef".repeat(4)), "[masked]\n");
    check(&[], "t eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4 t", "t [masked] t");
}

#[test]
fn words_that_only_look_like_keys_stay() {
    for text in [
        "risk-assessment-of-the-2nd-kind-of-all",
        "sk-learn-compatible-estimators",
        "the half_baked hf_hub function",
        "XAKIAIOSFODNN7EXAMPLE2",
        "eyJust a joke",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    ] {
        check(&[], text, text);
    }
}

#[test]
fn private_key_blocks_are_masked_whole_and_when_cut_off() {
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nabc+/=";
    for kind in ["", "RSA ", "EC ", "OPENSSH "] {
        let text = format!(
            "a\n-----BEGIN {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----\nb"
        );
        check(&[], &text, "a\n[masked]\nb");
    }
    check(&[], &format!("-----BEGIN PRIVATE KEY-----\n{body}"), "[masked]");
    check(
        &[],
        r#""-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n""#,
        r#""[masked]\n""#,
    );
}

#[test]
fn many_heads_without_an_end_take_linear_time() {
    let text = "-----BEGIN PRIVATE KEY-----!".repeat(20_000);
    assert!(!Redactor::default().redact(&text).as_str().contains("BEGIN"));
}

#[test]
fn a_secret_that_overlaps_the_mask_ends_too() {
    let secrets = ["ab[maske", "d][maske", "asked]cd", "[masked]"];
    let redactor = Redactor::new(secrets.map(str::to_owned));
    let text = redactor.redact("ab[masked]cd ab ab[maske[masked][masked]");
    assert!(secrets[..3].iter().all(|secret| !text.as_str().contains(secret)), "{text}");
}

#[test]
fn the_redactor_does_not_print_what_it_knows() {
    let redactor = Redactor::new(["hunter2hunter2".to_owned()]);
    assert!(!format!("{redactor:?}").contains("hunter2"));
}

fn visible(text: &str) -> String {
    text.chars().filter(|c| !invisible(*c)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// No known secret survives in any position, in any form, whatever stands around it.
    #[test]
    fn no_known_secret_survives(
        secrets in proptest::collection::vec("[ab\"\\\\\n\r\u{1}é\\[\\]maskd]{8,14}", 1..4),
        parts in proptest::collection::vec((".{0,6}", 0usize..4, 0u8..4), 0..8),
        tail in "[ab\"\\\\\né\\[\\]masked]{0,20}",
    ) {
        let redactor = Redactor::new(secrets.clone());
        let mut text = String::new();
        for (before, which, form) in &parts {
            text.push_str(before);
            let Some(secret) = secrets.get(*which) else { continue };
            match form {
                0 => text.push_str(secret),
                1 => text.push_str(&json_escaped(secret)),
                2 => text.push_str(&json_escaped_ascii(secret)),
                _ => text.extend(secret.chars().flat_map(|c| [c, '\u{2}'])),
            }
        }
        text.push_str(&tail);
        let redacted = redactor.redact(&text);
        let seen = visible(redacted.as_str());
        for secret in &secrets {
            let plain = visible(secret.trim());
            for form in [plain.clone(), json_escaped(&plain), json_escaped(secret.trim())] {
                if form.chars().count() >= KNOWN_MIN && !MASK.contains(&form) {
                    prop_assert!(!seen.contains(&form), "{form:?} in {seen:?}");
                }
            }
        }
        prop_assert_eq!(redactor.redact(redacted.as_str()), redacted);
    }

    /// Without secrets in it, text comes through unchanged.
    #[test]
    fn other_text_is_left_alone(text in "[a-z \u{2}ü\n]{0,80}") {
        let redactor = Redactor::new(["0123456789".to_owned()]);
        prop_assert_eq!(redactor.redact(&text).into_string(), text);
    }
}
