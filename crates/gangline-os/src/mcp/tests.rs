use std::collections::BTreeMap;

use super::McpPlace;

#[test]
fn no_value_of_a_variable_or_a_header_is_shown() {
    let secret = || BTreeMap::from([("NAME".to_owned(), "mellon".to_owned())]);
    let program = McpPlace::Stdio { command: vec!["server".to_owned()], env: secret() };
    let address = McpPlace::Http { url: "http://h/".to_owned(), headers: secret() };
    for place in [program, address] {
        let shown = format!("{place:?}");
        assert!(shown.contains("NAME") && !shown.contains("mellon"), "{shown}");
    }
}
