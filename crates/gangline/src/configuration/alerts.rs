//! Where alerts go, by the configuration.

use std::path::Path;

use gangline_alerts::Plan;

use super::Loaded;

/// Returns where alerts go. A target whose secret cannot be read is left out, and logged: agents work
/// without it.
pub(crate) fn plan(loaded: &Loaded) -> Plan {
    let plan = read(loaded);
    for broken in &plan.broken {
        tracing::error!(why = broken.to_string(), "a webhook gets no alerts");
    }
    plan
}

/// Returns a text for each target that cannot be used.
pub(super) fn troubles(loaded: &Loaded) -> impl Iterator<Item = String> {
    let file = loaded.file.display();
    let plan = read(loaded);
    let doubts = plan.doubts();
    let broken = plan.broken.into_iter().map(|broken| format!("{broken}; it gets no alerts"));
    broken.chain(doubts).map(move |text| format!("{file}: {text}"))
}

fn read(loaded: &Loaded) -> Plan {
    let config = &loaded.config;
    let folder = loaded.file.parent().unwrap_or(Path::new("/"));
    Plan::read(&config.webhooks, &config.alerts, folder)
}
