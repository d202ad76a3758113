use gangline_core::{alert::DeliveryState, hook::WebhookEvent, redact::Redacted};
use gangline_os::{clock::UnixMicros, secret::Secret};

use super::*;

fn row(text: &str) -> DeliveryRow {
    DeliveryRow {
        id: 1,
        alert: 1,
        agent: "spark-ada".parse().unwrap(),
        event: WebhookEvent::AgentError.into(),
        severity: Severity::Error,
        about: Some((7, false)),
        target: "x".to_owned(),
        text: Redacted::from_store(text.to_owned()),
        state: DeliveryState::Claimed,
        attempts: 1,
        next_at: None,
        claimed_by: None,
        trouble: None,
        made_at: UnixMicros(0),
        ended_at: None,
    }
}

fn to(kind: TargetKind, template: Option<&str>) -> Where {
    Where {
        name: "x".to_owned(),
        url: Secret::new("https://example.org/x"),
        kind,
        template: template.map(str::to_owned),
        secret: None,
        events: Vec::new(),
    }
}

/// R1-40: each target gets what it expects; the seed's own form is `{"content": …}`.
#[test]
fn each_kind_of_target_gets_its_own_body() {
    let check = |kind, template, text: &str, expect: &str| {
        assert_eq!(body(&to(kind, template), &[row(text)]).text, expect);
    };
    check(TargetKind::Generic, None, "a \"b\" <c>", r#"{"content":"a \"b\" <c>"}"#);
    check(TargetKind::Slack, None, "a & <b>", r#"{"text":"a &amp; &lt;b&gt;"}"#);
    check(TargetKind::Ntfy, None, "a <b>", "a <b>");
    check(
        TargetKind::Discord,
        None,
        "@everyone",
        r#"{"allowed_mentions":{"parse":[]},"content":"@everyone"}"#,
    );
    let template =
        Some(r#"{"m": "{{text}}", "a": "{{ agent }} {{event}} {{severity}} {{number}}"}"#);
    check(
        TargetKind::Template,
        template,
        "say \"{{agent}}\"\n",
        r#"{"m": "say \"{{agent}}\"\n", "a": "spark-ada agent_error error 7"}"#,
    );
    check(TargetKind::Template, Some("{{x}} {{text}} {{"), "\"hi\"", "{{x}} \"hi\" {{");
}

#[test]
fn discord_gets_no_more_than_it_takes() {
    let long = "ä".repeat(DISCORD_MAX + 1);
    let sent = body(&to(TargetKind::Discord, None), &[row(&long)]).text;
    let sent: serde_json::Value = serde_json::from_str(&sent).unwrap();
    let content = sent["content"].as_str().unwrap();
    assert_eq!(content.chars().count(), DISCORD_MAX);
    assert!(content.ends_with('…'));
    let exact = "ä".repeat(DISCORD_MAX);
    assert!(!body(&to(TargetKind::Discord, None), &[row(&exact)]).text.contains('…'));
}

#[test]
fn ntfy_hears_how_grave_it_is_by_headers() {
    let headers = body(&to(TargetKind::Ntfy, None), &[row("x")]).headers;
    let of = |name| headers.iter().find(|(it, _)| *it == name).map(|(_, value)| value.as_str());
    assert_eq!(of("priority"), Some("5"));
    assert_eq!(of("title"), Some("spark-ada agent_error"));
}

/// R1-40: what gathers for a target is one message, as grave as its gravest part.
#[test]
fn several_alerts_are_one_message() {
    let mild = WebhookEvent::AgentComplete.into();
    let rows = [
        DeliveryRow { event: mild, severity: Severity::Info, ..row("done") },
        row("crashed"),
        row("crashed again"),
    ];
    let sent = body(&to(TargetKind::Ntfy, None), &rows);
    assert_eq!(sent.text, "done\ncrashed\ncrashed again");
    let of =
        |name| sent.headers.iter().find(|(it, _)| *it == name).map(|(_, value)| value.as_str());
    assert_eq!(of("priority"), Some("5"));
    assert_eq!(of("title"), Some("3 alerts, one is spark-ada agent_error"));
    assert_eq!(lead(&rows).unwrap().text.as_str(), "crashed");
}

/// The words that a configuration is checked for are those that are filled in.
#[test]
fn each_word_of_a_template_is_filled_in() {
    for word in gangline_config::TEMPLATE_WORDS {
        let template = format!("{{{{{word}}}}}");
        let body = body(&to(TargetKind::Template, Some(&template)), &[row("x")]);
        assert!(!body.text.contains("{{") && !body.text.is_empty(), "{word}: {}", body.text);
    }
}
