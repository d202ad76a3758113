//! What editors are told of the words that the core declares: parts of the JSON Schema.

use std::borrow::Cow;

use gangline_core::{
    budget::BudgetAction,
    hook::{HookEvent, WebhookEvent},
    permission::Permissions,
    word::Word,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// Of `permissions`: what each value means is shown by editors.
pub(super) fn permissions(_: &mut SchemaGenerator) -> Schema {
    words(|mode: Permissions| match mode {
        Permissions::Ask => "Rules allow tools that only read; a human decides the rest.",
        Permissions::Allowlist => "Only `allowed_tools` exist; they run unasked.",
        Permissions::Bypass => "Everything runs unasked; status and WHOIS show BYPASS.",
    })
}

/// Of a budget's `action`.
pub(super) fn budget_action(_: &mut SchemaGenerator) -> Schema {
    words(|action: BudgetAction| match action {
        BudgetAction::Warn => "People are told.",
        BudgetAction::Hold => "No new turn begins until the next day; messages are stored.",
        BudgetAction::Stop => {
            "As `hold`, and the open turn's next request to the model is refused."
        }
    })
}

/// Stands for a [`HookEvent`]: the core knows no schema.
pub(super) struct HookEvents;

impl JsonSchema for HookEvents {
    fn schema_name() -> Cow<'static, str> {
        "HookEvent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = words(|event: HookEvent| match event {
            HookEvent::SessionStart => "Its backend is ready for prompts.",
            HookEvent::SessionStop => "Its backend has ended.",
            HookEvent::OnMessage => "A message was taken into a turn.",
            HookEvent::OnError => "A turn failed, or the backend crashed.",
        });
        let about = "An event of an agent on which a hook can run (R3-10).";
        schema.insert("description".to_owned(), about.into());
        schema
    }
}

/// Stands for a [`WebhookEvent`].
pub(super) struct WebhookEvents;

impl JsonSchema for WebhookEvents {
    fn schema_name() -> Cow<'static, str> {
        "WebhookEvent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let mut schema = words(|event: WebhookEvent| match event {
            WebhookEvent::AgentQuestion => "The agent asks something and waits.",
            WebhookEvent::AgentSpiraling => {
                "The supervisor escalates: its corrections did not help."
            }
            WebhookEvent::AgentTimeout => "A question was not answered in time.",
            WebhookEvent::AgentError => "The backend crashed.",
            WebhookEvent::AgentComplete => "The agent's last queued message is settled.",
            WebhookEvent::AgentApproval => "A tool waits for a person's permission.",
            WebhookEvent::AgentBudget => "A budget is spent, or nearly so.",
            WebhookEvent::AgentRateLimited => "The provider's limit is reached.",
            WebhookEvent::AgentStuck => "A watchdog has found something to look at.",
        });
        let about = "An event that can be reported to a webhook and `#alerts` (R1-39).";
        schema.insert("description".to_owned(), about.into());
        schema
    }
}

/// Returns the schema of a closed set, each word with what it means.
fn words<W: Word>(means: impl Fn(W) -> &'static str) -> Schema {
    let value = |word: &W| json_schema!({"const": word.as_str(), "description": means(*word), "type": "string"});
    let values: Vec<Schema> = W::ALL.iter().map(value).collect();
    json_schema!({"oneOf": values})
}
