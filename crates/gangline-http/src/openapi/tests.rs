use std::collections::BTreeSet;

use serde_json::Value;

use super::DOCUMENT;
use crate::paths::{
    ABORT, ATTENTION, ATTENTION_CHANGES, ATTENTION_ITEM, BUDGETS, COMPACT, MCP, NEW_SESSION,
    OLD_COMPACT, OLD_NEW_SESSION, OPENAPI, PAUSE, RESUME, WAKE, WHISPERS,
};

#[test]
fn the_document_names_every_route_and_no_other() {
    let document: Value = serde_json::from_str(DOCUMENT).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let named: BTreeSet<&str> = paths.keys().map(String::as_str).collect();
    let routes = [
        ABORT,
        ATTENTION,
        ATTENTION_CHANGES,
        ATTENTION_ITEM,
        BUDGETS,
        COMPACT,
        MCP,
        NEW_SESSION,
        OLD_COMPACT,
        OLD_NEW_SESSION,
        OPENAPI,
        PAUSE,
        RESUME,
        WAKE,
        WHISPERS,
    ];
    assert_eq!(named, routes.into_iter().collect());
    for (path, methods) in paths {
        let methods = methods.as_object().unwrap();
        let reads = [OPENAPI, ATTENTION, ATTENTION_CHANGES, BUDGETS].contains(&path.as_str());
        assert!(methods.contains_key(if reads { "get" } else { "post" }), "{path}");
        for (method, about) in methods {
            assert!(about["summary"].is_string(), "{method} {path}");
            assert!(about["responses"].as_object().is_some_and(|it| !it.is_empty()), "{path}");
        }
    }
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
}
