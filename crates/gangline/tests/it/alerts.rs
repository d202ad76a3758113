//! Alerts as people have them: in the channel, and at a webhook.

use std::time::Duration;

use gangline_testkit::{HookReply, HookServer, Stage, eventually};

const SOON: Duration = Duration::from_secs(30);
const SCRIPT: &str = r##"
rules:
  - reply: [text: "done"]
"##;

/// R1-09, R1-39, R1-40, R1-42, R1-56, C11: an alert goes to `#alerts`, posted by `gangline`, and to the
/// webhook; where the hub was killed, the daemon posts to the webhook, and the next hub to the channel; none
/// is lost and none is there twice.
#[test]
fn an_alert_reaches_channel_and_webhook_also_over_the_death_of_the_hub() {
    let server = HookServer::start(vec![HookReply::status(204)]);
    let url = server.url("/secret-hook");
    let more = format!("webhooks:\n  url: {url}\n  allow_hosts: [127.0.0.1]");
    let stage = Stage::new(env!("CARGO_BIN_EXE_gangline"), &["oak-ada"], Some(SCRIPT), (&more, ""));
    let run = |args: &[&str]| {
        let mut all = vec!["--config", stage.config.as_str()];
        all.extend(args);
        stage.world.run(&all)
    };
    let mut hub = stage.up();
    let mut ori = stage.owner("ori");
    ori.join("#alerts");
    ori.say("#general", "@oak-ada build it");
    let complete = "[COMPLETE] oak-ada finished task \"build it\". Results in #general.";
    let said = ori.hears("gangline", "#alerts", "[COMPLETE]");
    assert_eq!(said, complete);
    let got = server.next(SOON).unwrap();
    assert_eq!(got.path, "/secret-hook");
    assert_eq!(got.body, serde_json::json!({"content": complete}).to_string());
    assert!(ori.lines().iter().any(|line| line.contains("NOTICE #alerts")), "it wakes no agent");
    // Who reads an alert can answer there: the agent is in the channel.
    ori.say("#alerts", "@oak-ada status");
    ori.hears("oak-ada", "#alerts", "waits to be asked");
    // The hub's client only posts alerts, and says so.
    ori.say("#alerts", "@gangline 12 resume");
    ori.hears("gangline", "#alerts", "ori: I only post alerts: write to the agent");
    let mut eve = stage.member("eve");
    eve.send("NICK gangline");
    eve.wait("a refusal of the hub's nick", |line| line.contains(" 43").then_some(()));
    hub.kill();
    assert_eq!(run(&["prompt", "ada", "again"]).code, 0);
    let got = server.next(SOON).expect("the daemon posts while no hub runs");
    assert!(got.body.contains("finished a task of owner."), "{}", got.body);
    let _hub = stage.up();
    let mut ori = stage.owner("ori");
    ori.join("#alerts");
    let text = || -> Vec<String> {
        let list = run(&["alerts", "--json"]).json();
        let rows = list.as_array().unwrap().iter();
        rows.map(|it| {
            format!("{} {}", it["target"].as_str().unwrap(), it["state"].as_str().unwrap())
        })
        .collect()
    };
    let delivered = "SELECT count(*) FROM alert_deliveries WHERE state = 'delivered'";
    eventually("every delivery", || (stage.query(delivered) == ["4"]).then_some(()));
    assert_eq!(text(), ["irc delivered", "url delivered", "irc delivered", "url delivered"]);
    let told: Vec<_> = ori.history("#alerts");
    for part in ["finished task \"build it\"", "finished a task of owner."] {
        assert_eq!(told.iter().filter(|line| line.contains(part)).count(), 1, "{part}: {told:?}");
    }
    let list = run(&["alerts"]).ok();
    assert!(!list.contains("secret-hook"), "{list}");
    let test = run(&["alerts", "test"]).ok();
    assert!(test.starts_with("url (http://127.0.0.1:"), "{test}");
    assert!(test.ends_with("/[masked]): delivered\n"), "{test}");
}
