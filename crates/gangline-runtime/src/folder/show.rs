//! What a folder brings along, in words for people.

use gangline_core::shown;

use super::{Kind, Scan};

/// How many files are named in one sentence.
const NAMED_MAX: usize = 6;

/// Returns what is brought along on one line, by its files' names. Names of files are foreign text.
#[must_use]
pub fn sum(scan: &Scan) -> String {
    let mut parts: Vec<String> = Vec::new();
    let own = scan.brought.iter().filter(|file| file.kind != Kind::Script);
    let scripts = scan.brought.len() - own.clone().count();
    for file in own.clone().take(NAMED_MAX) {
        parts.push(format!("{} ({})", shown::label(&file.place()), file.kind));
    }
    let more = own.count().saturating_sub(NAMED_MAX);
    if more > 0 {
        parts.push(format!("{more} more files"));
    }
    match scripts {
        0 => {}
        1 => parts.push("1 script that they name".to_owned()),
        scripts => parts.push(format!("{scripts} scripts that they name")),
    }
    parts.extend(scan.unread.iter().map(|text| format!("not read: {}", shown::label(text))));
    parts.join(", ")
}
