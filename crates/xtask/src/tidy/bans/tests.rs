use super::{ALLOWED, BANNED, check, spdx, strings};
use crate::metadata::Metadata;
use crate::tidy::{Repo, Tree, said};

fn deny_toml() -> String {
    let allow: Vec<_> = ALLOWED.iter().map(|name| format!("  \"{name}\",\n")).collect();
    let deny: Vec<_> = BANNED
        .iter()
        .map(|name| format!("  {{ crate = \"{name}\", reason = \"one \\\"stack\\\"\" }},\n"))
        .collect();
    format!("[licenses]\nallow = [\n{}]\n\n[bans]\ndeny = [\n{}]\n", allow.concat(), deny.concat())
}

fn repo(deny: &str, package: (&str, Option<&str>)) -> Repo {
    let json = serde_json::json!({"packages": [
        {"id": "x", "name": package.0, "version": "1.0.0", "license": package.1}
    ]});
    let metadata: Metadata = serde_json::from_value(json).unwrap();
    Repo { files: Tree::of(&[("deny.toml", deny)]), metadata }
}

#[test]
fn licence_expressions_are_understood() {
    let cases = [
        ("MIT OR Apache-2.0", Ok(true)),
        ("MIT/Apache-2.0", Ok(true)),
        ("Apache-2.0 / MIT", Ok(true)),
        ("GPL-3.0-only", Ok(false)),
        ("MIT AND GPL-3.0-only", Ok(false)),
        ("MPL-2.0 OR MIT", Ok(true)),
        ("MPL-2.0", Ok(false)),
        ("(Apache-2.0 OR MIT) AND BSD-3-Clause", Ok(true)),
        ("(GPL-2.0 OR LGPL-2.1) AND MIT", Ok(false)),
        ("Apache-2.0 WITH LLVM-exception", Ok(true)),
        ("GPL-2.0 WITH Classpath-exception-2.0", Ok(false)),
        ("MIT OR GPL-3.0-only AND GPL-2.0", Ok(true)),
        ("MIT MIT", Err("unexpected MIT".to_owned())),
        ("(MIT", Err("a ) is missing".to_owned())),
        ("MIT OR", Err("a licence is missing".to_owned())),
        ("", Err("a licence is missing".to_owned())),
    ];
    for (expression, expected) in cases {
        assert_eq!(spdx::allowed(expression, ALLOWED), expected, "{expression}");
    }
}

#[test]
fn a_graph_of_allowed_crates_passes() {
    let repo = repo(&deny_toml(), ("serde", Some("MIT OR Apache-2.0")));
    assert_eq!(said(&check(&repo)), [""; 0]);
}

#[test]
fn a_banned_crate_is_named() {
    let repo = repo(&deny_toml(), ("aws-lc-sys", Some("ISC")));
    assert_eq!(said(&check(&repo)), ["Cargo.lock: fail: aws-lc-sys 1.0.0 is banned"]);
}

#[test]
fn a_foreign_licence_and_a_missing_one_are_named() {
    let findings = check(&repo(&deny_toml(), ("x", Some("GPL-3.0-only"))));
    assert_eq!(
        said(&findings),
        ["Cargo.lock: fail: x 1.0.0 has the licence GPL-3.0-only, which is not allowed"]
    );
    let findings = check(&repo(&deny_toml(), ("x", None)));
    assert_eq!(said(&findings), ["Cargo.lock: fail: x 1.0.0 names no licence"]);
}

#[test]
fn deny_toml_may_neither_lack_nor_add() {
    let lacks = deny_toml().replace("  \"ISC\",\n", "");
    let adds = deny_toml().replace("\"native-tls\"", "\"foreign-tls\"");
    assert_eq!(
        said(&check(&repo(&lacks, ("x", Some("MIT"))))),
        ["deny.toml: fail: lacks the licence ISC of tidy"]
    );
    assert_eq!(
        said(&check(&repo(&adds, ("x", Some("MIT"))))),
        [
            "deny.toml: fail: lacks the ban native-tls of tidy",
            "deny.toml: fail: has the ban foreign-tls, tidy has not"
        ]
    );
}

#[test]
fn an_array_ends_where_its_section_ends() {
    let text = "[licenses]\nconfidence-threshold = 0.9\n[bans]\nallow = [\"x\"]\n";
    assert_eq!(strings(text, "licenses", "allow", None), [""; 0]);
    assert_eq!(strings(text, "bans", "allow", None), ["x"]);
}
