//! Who may use which tool: rules decide the easy ones, a human the rest.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use gangline_core::permission;
use gangline_harness::{Authorization, Authorizer, ToolCall, tools};
use tokio::sync::oneshot;

use super::events::Events;
use crate::{Answer, ApprovalAsk, ApprovalReply, RuntimeEvent, reading::Reading};

/// Asks through the daemon and waits for the reply, for as long as it takes.
pub(super) struct Permits {
    events: Arc<Events>,
    reading: Reading,
    waiting: Mutex<HashMap<String, oneshot::Sender<Answer>>>,
    current: Mutex<Option<String>>,
}

impl Permits {
    pub(super) fn new(events: Arc<Events>, reading: Reading) -> Self {
        Self { events, reading, waiting: Mutex::default(), current: Mutex::default() }
    }

    /// Returns whether a tool may run at all, asked for or not.
    pub(super) fn may_use(&self, tool: &str) -> bool {
        match self.reading.policy().permit(tool) {
            permission::Permit::Allow | permission::Permit::Ask => true,
            permission::Permit::Deny(_) => false,
        }
    }

    /// Hands a reply to the call that waits for it; ignores one that nobody waits for.
    pub(super) fn decide(&self, reply: ApprovalReply) {
        let waiting =
            self.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&reply.request);
        if let Some(waiting) = waiting {
            let _ = waiting.send(reply.answer);
        }
    }

    /// Returns the id of the call that was authorised last: tools run one after another, so it
    /// is the one that runs.
    pub(super) fn current(&self) -> String {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    async fn ask(&self, call: &ToolCall, judged: Option<&Path>) -> Authorization {
        let (sender, answer) = oneshot::channel();
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(call.id.clone(), sender);
        let _forget = Forget { permits: self, request: &call.id };
        let input = match known(&call.name) {
            Some(known) => self.reading.with_known(&call.name, call.input.clone(), &known),
            None => call.input.clone(),
        };
        let files = self.reading.files(&call.name, &input, &[]).into_iter();
        // What is shown is what is opened.
        let files = files.map(|file| match judged {
            Some(judged) if ["Read", "Write", "Edit"].contains(&call.name.as_str()) => {
                file.at(judged)
            }
            Some(_) | None => file,
        });
        let files = files.collect();
        self.events.push(|turn| RuntimeEvent::ApprovalAsked {
            turn,
            ask: ApprovalAsk {
                request: call.id.clone(),
                tool: call.name.clone(),
                input,
                presumed: false,
                files,
            },
        });
        match answer.await {
            Ok(Answer::Allow) => Authorization::Allow,
            Ok(Answer::Deny { reason }) => Authorization::Deny { reason },
            Err(_) => Authorization::Deny { reason: "the request was withdrawn".to_owned() },
        }
    }
}

/// Returns the arguments that a tool of the harness uses; `None` if it is another's.
fn known(tool: &str) -> Option<Vec<String>> {
    let tools = tools::standard(Vec::new());
    let schema = tools.iter().find(|it| it.name() == tool)?.input_schema();
    Some(schema.get("properties")?.as_object()?.keys().cloned().collect())
}

/// Returns the permission; where a file was judged, for that one only.
fn allowed(judged: Option<PathBuf>) -> Authorization {
    judged.map_or(Authorization::Allow, Authorization::AllowAt)
}

/// Removes a question whose prompt was cancelled.
struct Forget<'a> {
    permits: &'a Permits,
    request: &'a str,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        self.permits.waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(self.request);
    }
}

#[async_trait]
impl Authorizer for Permits {
    async fn authorize(&self, call: &ToolCall) -> Authorization {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(call.id.clone());
        // What the model said comes first: then a crash inside the tool finds it recorded.
        self.events.emptied().await;
        let (permit, judged) = self.reading.permit_of_place(&call.name, &call.input);
        match permit {
            permission::Permit::Allow => allowed(judged),
            permission::Permit::Deny(reason) => Authorization::Deny { reason },
            permission::Permit::Ask => match self.ask(call, judged.as_deref()).await {
                Authorization::Allow => allowed(judged),
                other => other,
            },
        }
    }
}
