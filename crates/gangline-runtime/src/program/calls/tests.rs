//! A tool that says something, one that breaks, and one whose caller is gone.

use async_trait::async_trait;
use gangline_core::{Epoch, TurnId};
use serde_json::json;

use super::*;
use crate::ToolSpec;

struct Host;

#[async_trait]
impl ToolHost for Host {
    fn tools(&self) -> Vec<ToolSpec> {
        Vec::new()
    }
    async fn call(&self, call: ToolCall) -> Outcome {
        assert!(call.name != "breaks", "it breaks");
        Ok(call.name)
    }
}

fn call(name: &str) -> ToolCall {
    let turn = TurnId { epoch: Epoch(1), number: 1 };
    ToolCall { turn, id: String::new(), name: name.to_owned(), input: json!({}) }
}

/// Whoever called a tool that breaks is answered too, and no other.
#[tokio::test]
async fn every_caller_is_answered_once() {
    let mut calls = Calls::new(Arc::new(Host));
    calls.begin(call("lost"), "nobody");
    calls.forget();
    for (name, caller) in [("breaks", "one"), ("says", "two"), ("breaks", "three")] {
        calls.begin(call(name), caller);
        let (answered, outcome, aside) = calls.next().await;
        assert!(aside.is_none());
        assert_eq!(answered, caller);
        match name {
            "breaks" => assert!(outcome.unwrap_err().contains("broke")),
            name => assert_eq!(outcome, Ok(name.to_owned())),
        }
    }
}
