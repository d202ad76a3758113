use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;

mod bounds;
mod forms;
mod lines;
mod refused;
mod repeats;

const BERLIN: &str = "Europe/Berlin";
const NEW_YORK: &str = "America/New_York";
const LORD_HOWE: &str = "Australia/Lord_Howe";
const CAIRO: &str = "Africa/Cairo";

/// Zones by today's rules, so that no test depends on a machine's database.
const RULES: [(&str, i32, &str); 4] = [
    (BERLIN, 3_600, "CET-1CEST,M3.5.0,M10.5.0/3"),
    (NEW_YORK, -18_000, "EST5EDT,M3.2.0,M11.1.0"),
    (LORD_HOWE, 37_800, "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0"),
    (CAIRO, 7_200, "EET-2EEST,M4.5.5/0,M10.5.4/24"),
];

fn zones(name: &str) -> Option<TimeZone> {
    static ZONES: LazyLock<Vec<TimeZone>> = LazyLock::new(|| {
        RULES.iter().map(|(name, offset, rule)| ruled(name, *offset, rule).unwrap()).collect()
    });
    let named = |zone: &&TimeZone| zone.iana_name().unwrap().eq_ignore_ascii_case(name);
    ZONES.iter().find(named).cloned()
}

fn ruled(name: &str, offset: i32, rule: &str) -> Option<TimeZone> {
    let abbreviation = match rule.strip_prefix('<') {
        Some(rest) => rest.split('>').next()?,
        None => &rule[..3],
    };
    // RFC 9636: no changes in the past, one type of local time, and the rule as its footer.
    let mut block = b"TZif2".to_vec();
    block.extend([0; 15]);
    for count in [0, 0, 0, 0, 1, abbreviation.len() as u32 + 1] {
        block.extend(count.to_be_bytes());
    }
    block.extend(offset.to_be_bytes());
    block.extend([0, 0]);
    block.extend(abbreviation.bytes().chain([0]));
    let data = [&block[..], &block[..], b"\n", rule.as_bytes(), b"\n"].concat();
    TimeZone::tzif(name, &data).ok()
}

/// Returns a moment, `2026-11-25T09:30:15+01:00`, in a zone.
fn moment(at: &str, zone: &str) -> Zoned {
    let zone = if zone == "UTC" { TimeZone::UTC } else { zones(zone).unwrap() };
    at.parse::<Timestamp>().unwrap().to_zoned(zone)
}

fn shown(at: WallMicros, zone: &TimeZone) -> String {
    let at = Timestamp::from_microsecond(at.0).unwrap().to_zoned(zone.clone());
    at.strftime("%a %Y-%m-%d %H:%M:%S %:z").to_string()
}

/// Returns the first time, in the zone of `now`, and the stored repeat behind ` | `, or the error.
fn said(text: &str, now: &Zoned) -> String {
    match due(text, now, &zones) {
        Ok(Due { at, repeats: None }) => shown(at, now.time_zone()),
        Ok(Due { at, repeats: Some(again) }) => format!("{} | {again}", shown(at, now.time_zone())),
        Err(error) => error.to_string(),
    }
}

fn check(now: &str, zone: &str, table: &[(&str, &str)]) {
    let now = moment(now, zone);
    let failed: Vec<_> = table
        .iter()
        .map(|(text, expected)| (text, *expected, said(text, &now)))
        .filter(|(_, expected, said)| expected != said)
        .map(|(text, expected, said)| format!("{text:?}\n  expected {expected}\n  said     {said}"))
        .collect();
    assert!(failed.is_empty(), "at {now}:\n{}", failed.join("\n"));
}
