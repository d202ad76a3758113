//! Texts of errors without what differs from run to run.

/// Units behind a number that make it a duration.
const UNITS: &[&str] =
    &["s", "ms", "us", "µs", "ns", "sec", "secs", "second", "seconds", "min", "minutes"];
/// What stands for what was left out.
const NOISE: &str = "#";

/// Returns the words of an error, with [`NOISE`] in place of times, durations, addresses, numbers of
/// processes in parentheses and temporary files.
pub(super) fn without_noise(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut number_before = false;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
        // `1.2 s` is one duration in two words.
        let unit = number_before && UNITS.contains(&bare);
        if unit {
            out.truncate(out.trim_end().rfind(' ').map_or(0, |at| at + 1));
        }
        out.push_str(if unit || is_noise(word, bare) { NOISE } else { word });
        out.push(' ');
        number_before = is_number(bare);
    }
    out
}

fn is_noise(word: &str, bare: &str) -> bool {
    let process = word.starts_with('(') && bare.len() >= 4 && is_digits(bare);
    let address =
        bare.strip_prefix("0x").is_some_and(|it| it.chars().all(|c| c.is_ascii_hexdigit()));
    // shared folder: a name in somebody's error, which is only compared.
    let temporary = bare.starts_with("/tmp/") || bare.starts_with("/var/folders/");
    process || address || temporary || is_duration(bare) || is_clock(bare)
}

/// Whether it is a number with a unit of time.
fn is_duration(bare: &str) -> bool {
    let end = bare.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(bare.len());
    let (number, unit) = bare.split_at(end);
    is_number(number) && UNITS.contains(&unit)
}

/// Whether it is a date, a time of day, or both.
fn is_clock(bare: &str) -> bool {
    let parts = |c: char| bare.matches(c).count() >= 2;
    bare.starts_with(|c: char| c.is_ascii_digit())
        && bare.chars().all(|c| c.is_ascii_digit() || ":-.,+TZ".contains(c))
        && (parts(':') || parts('-'))
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || c == '.')
}

fn is_digits(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_digit())
}
