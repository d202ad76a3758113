//! A handler of events is called on the loop's own thread: while it works the loop waits.

use std::{
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use gangline_harness::{EventHandler, Harness, ToolCall, ToolResult};
use serde_json::json;

use crate::fake::*;

/// Takes its time over the first text: until the test lets it go on.
struct Slow {
    told: Mutex<Vec<String>>,
    begun: SyncSender<()>,
    go_on: Mutex<Receiver<()>>,
}

impl Slow {
    fn tell(&self, what: impl Into<String>) {
        let thread = thread::current().name().unwrap_or_default().to_owned();
        self.told.lock().unwrap().push(format!("{thread}: {}", what.into()));
    }
}

impl EventHandler for Slow {
    fn on_text(&self, text: &str) {
        self.tell(format!("text {text}"));
        if text == "first" {
            self.begun.send(()).unwrap();
            self.go_on.lock().unwrap().recv().unwrap();
            self.tell("the first is done with");
        }
    }

    fn on_tool_call(&self, call: &ToolCall) {
        self.tell(format!("call {}", call.name));
    }

    fn on_tool_result(&self, result: &ToolResult) {
        self.tell(format!("result {}", result.content));
    }
}

/// R4-14: nothing is told, no tool is run and no request made while a handler works; then all of it
/// is, in order and on the same thread.
#[tokio::test]
async fn a_slow_handler_delays_the_loop_and_keeps_the_order() {
    let step =
        whole(&[text(0, "first"), tool(1, "a", "puppet", &json!({"say": "it ran"}))], "tool_use");
    let fake = Fake::start(vec![step, says("second")]).await;
    let (begun, has_begun) = sync_channel(1);
    let (go_on, may_go_on) = sync_channel(1);
    let slow = Arc::new(Slow { told: Mutex::default(), begun, go_on: Mutex::new(may_go_on) });
    let (config, handler) = (fake.config(), Arc::clone(&slow));
    let work = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let harness = Harness::new(config, puppet(), Some(handler)).unwrap();
        runtime.block_on(harness.prompt("go")).unwrap();
    };
    let worker = thread::Builder::new().name("loop".to_owned()).spawn(work).unwrap();
    // The fake serves on this runtime, which must go on meanwhile.
    within(tokio::task::spawn_blocking(move || has_begun.recv().unwrap())).await.unwrap();
    assert_eq!(*slow.told.lock().unwrap(), ["loop: text first"]);
    assert_eq!(fake.requests().len(), 1);
    go_on.send(()).unwrap();
    within(tokio::task::spawn_blocking(move || worker.join().unwrap())).await.unwrap();
    let told = [
        "loop: text first",
        "loop: the first is done with",
        "loop: call puppet",
        "loop: result it ran",
        "loop: text second",
    ];
    assert_eq!(*slow.told.lock().unwrap(), told);
    assert_eq!(fake.requests().len(), 2);
}
