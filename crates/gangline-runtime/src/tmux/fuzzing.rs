//! What must hold for any screen; see [`crate::fuzzing`].

#![allow(clippy::unwrap_used, reason = "all of this is a test")]

use std::{path::Path, sync::LazyLock};

use super::{
    profile::Profile,
    screen::{self, Screen, squash},
    text::{ANSWER_MAX, Captured, Receipt, Sight, Since},
};

/// Programs of each kind, by the names of their profiles.
static PROFILES: LazyLock<Vec<(&str, Profile)>> = LazyLock::new(|| {
    let names = ["bash", "claude", "python3", "nobody-knows"];
    names.map(|name| (name, Profile::of(Path::new(name), None).unwrap())).into()
});

/// A screen as tmux tells it, of every kind of program: what is read off it stands on it.
pub fn screen(bytes: &[u8]) {
    let told = String::from_utf8_lossy(bytes);
    let Some(screen) = Screen::parse(&told) else { return };
    assert!(screen.history <= screen.cursor_line());
    assert!(screen.last_words().is_empty() || screen.has(screen.last_words()));
    let shown = squash(&screen.rows.concat());
    let captured = Captured { lines: screen.rows.clone(), overflowed: false };
    assert!(!screen::before_death(&captured.lines).is_empty());
    for (name, profile) in PROFILES.iter() {
        let _ = (screen.busy(profile), screen.asks(profile), screen.wants_more(profile));
        if screen.takes_prompts(profile) {
            assert!(screen.ready(profile), "it takes prompts and is not ready");
        }
        for from in [None, Some(screen.history)] {
            let input = screen.input(profile, from);
            assert!(shown.contains(&input), "{name}: an input that is nowhere: {input:?}");
            let _ = screen.input_with_signs(profile, from.unwrap_or(0));
            let receipt = Receipt::of(&input);
            let seen = receipt.seen(&input, Sight::Whole { before: "" }, profile);
            assert!(input.is_empty() || seen, "{name}: it does not know its own text: {input:?}");
        }
        let prompt = screen.rows.first().map_or("", String::as_str);
        let answer = Since { captured: &captured, prompt }.answer(profile);
        assert!(answer.len() <= ANSWER_MAX, "{name}: {}", answer.len());
        let stands = |line: &str| screen.rows.iter().any(|row| row.contains(line.trim()));
        assert!(answer.lines().all(stands), "{name}: an answer that is nowhere: {answer:?}");
    }
}
