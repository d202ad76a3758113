//! What the tests share.

use std::time::Duration;

use gangline_alerts::{Plan, Where};
use gangline_config::TargetKind;
use gangline_core::{hook::WebhookEvent, redact::Redactor};
use gangline_os::secret::Secret;

/// The longest that a test waits for what must come.
pub(crate) const SOON: Duration = Duration::from_secs(20);

/// A target whose host is allowed by name in [`plan`].
pub(crate) fn target(name: &str, url: &str) -> Where {
    Where {
        name: name.to_owned(),
        url: Secret::new(url),
        kind: TargetKind::Generic,
        template: None,
        secret: None,
        events: WebhookEvent::ALL.to_vec(),
    }
}

/// A plan of webhooks only.
pub(crate) fn plan(targets: Vec<Where>, retries: u32) -> Plan {
    let known: Vec<String> = targets.iter().map(|it| it.url.expose().to_owned()).collect();
    Plan {
        targets,
        retries,
        events: WebhookEvent::ALL.to_vec(),
        allow_hosts: vec!["127.0.0.1".to_owned()],
        redactor: Redactor::new(known.clone()),
        answers: Redactor::new(known),
        ..Plan::default()
    }
}
