use gangline_os::clock::UnixMicros;

use super::*;

#[test]
fn a_token_shows_what_it_opens_and_when_it_was_used() {
    let token = |number, used: Option<&str>, revoked: Option<&str>| Token {
        number,
        scope: "mcp:oak-ada".to_owned(),
        agent: "oak-ada".parse().unwrap(),
        label: "editor".to_owned(),
        made_by: "owner".to_owned(),
        made_at: "1970-01-01T00:00:00Z".to_owned(),
        used_at: used.map(str::to_owned),
        revoked_at: revoked.map(str::to_owned),
    };
    let at = "1970-01-01T00:01:00Z";
    let tokens = [token(1, None, None), token(2, Some(at), None), token(3, Some(at), Some(at))];
    let shown = list(&tokens, UnixMicros(120_000_000));
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let rows: Vec<_> = shown.lines().map(words).collect();
    assert_eq!(rows[1], ["1", "mcp:oak-ada", "2m", "never", "owner", "editor"]);
    assert_eq!(rows[2], ["2", "mcp:oak-ada", "2m", "1m", "owner", "editor"]);
    assert_eq!(rows[3], ["3", "mcp:oak-ada", "2m", "revoked", "owner", "editor"]);
    assert!(list(&[], UnixMicros(0)).starts_with("no tokens"));
}
