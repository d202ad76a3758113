//! Modes as programs offer them.

use serde_json::json;

use super::*;

fn modes(current: &str, offered: &[(&str, &str)]) -> Modes {
    let offered: Vec<_> = offered
        .iter()
        .map(|(id, description)| json!({"id": id, "name": id, "description": description}))
        .collect();
    Modes::of(&json!({"modes": {"currentModeId": current, "availableModes": offered}})).unwrap()
}

fn to(mode: &str) -> Standing {
    Standing::Other(mode.to_owned())
}

/// C5: the modes of eleven programs.
#[test]
fn the_asking_mode_is_found_by_name_or_description() {
    let claude = [
        ("auto", "Decides itself"),
        ("default", "Always ask before making changes"),
        ("acceptEdits", "Automatically accept all file edits"),
        ("plan", "No changes"),
        ("bypassPermissions", "Accepts all permissions"),
    ];
    let codex =
        [("read-only", "Approval required to edit files"), ("auto", ""), ("full-access", "")];
    let gemini =
        [("default", "Prompts for approval"), ("autoEdit", ""), ("yolo", ""), ("plan", "")];
    let zed = [("ask", "Request permission before making any changes"), ("code", "")];
    let cursor = [("agent", "Full"), ("plan", "Designs"), ("ask", "Answers questions, read-only")];
    let copilot = [("https://x.example/modes#agent", ""), ("https://x.example/modes#plan", "")];
    let other = [("a", "does all"), ("b", "Asks before each step")];
    for (modes, standing) in [
        (modes("auto", &claude), to("default")),
        (modes("acceptEdits", &claude), to("default")),
        (modes("bypassPermissions", &claude), to("default")),
        (modes("default", &claude), Standing::Asks),
        (modes("plan", &claude), Standing::Asks),
        (modes("auto", &codex), to("read-only")),
        (modes("read-only", &codex), Standing::Asks),
        (modes("yolo", &gemini), to("default")),
        (modes("code", &zed), to("ask")),
        (modes("code", &[("ask", ""), ("code", "")]), to("ask")),
        (modes("agent", &cursor), Standing::NoWay),
        (modes("ask", &cursor), Standing::NoWay),
        (modes("https://x.example/modes#agent", &copilot), Standing::NoWay),
        (modes("https://x.example/modes#plan", &copilot), Standing::Asks),
        (modes("approve-all", &[("approve", ""), ("approve-all", "")]), to("approve")),
        (modes("always-approve", &[("always-ask", ""), ("always-approve", "")]), to("always-ask")),
        (modes("a", &other), to("b")),
        (modes("b", &other), Standing::Asks),
        (modes("x", &[]), Standing::NoWay),
        (modes("default", &[]), Standing::Asks),
    ] {
        assert_eq!(modes.standing(ASKING), standing, "{modes:?}");
    }
    assert_eq!(Modes::of(&json!({})), None);
}

#[test]
fn a_choice_may_stand_for_the_modes() {
    let option = |value: &str| json!({"value": value, "name": value});
    let choice = |options| {
        let choice =
            json!({"id": "m", "category": "mode", "currentValue": "auto", "options": options});
        Modes::chosen(&[serde_json::from_value(choice).unwrap()]).unwrap()
    };
    let plain = choice(json!([option("auto"), option("default")]));
    let group =
        json!([{"group": "g", "name": "g", "options": [option("auto"), option("default")]}]);
    assert_eq!((plain.choice.as_deref(), plain.standing(ASKING)), (Some("m"), to("default")));
    assert_eq!(choice(group), plain);
    assert_eq!(choice(json!([])).standing(ASKING), Standing::NoWay);
    assert_eq!(Modes::chosen(&[]), None);
}
