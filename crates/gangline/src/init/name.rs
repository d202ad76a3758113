//! The server's name, which every nick begins with.

use crate::failure::Failure;

#[cfg(test)]
mod tests;

/// Where a machine has no name that is of use.
const NAMELESS: &str = "spark";
/// What is taken of a machine's name: the nick goes on behind it.
const TAKEN: usize = 20;
/// As the configuration has it.
const NAME_MAX: usize = 32;

/// Returns a server's name made of the machine's: its first part, in a-z, 0-9 and `_`. A hyphen
/// would end the server's part of a nick.
pub(crate) fn of_machine(machine: &str) -> String {
    let first = machine.trim().split('.').next().unwrap_or_default();
    let mut name = String::new();
    for c in first.chars().map(|c| c.to_ascii_lowercase()) {
        match c {
            'a'..='z' | '0'..='9' => name.push(c),
            _ if name.is_empty() || name.ends_with('_') => {}
            _ => name.push('_'),
        }
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'm');
    }
    name.truncate(TAKEN);
    let name = name.trim_end_matches('_');
    if name.is_empty() { NAMELESS.to_owned() } else { name.to_owned() }
}

/// Checks a name that was given, as the configuration would.
pub(crate) fn check(name: &str) -> Result<(), Failure> {
    let legal = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
    let starts = name.bytes().next().is_some_and(|b| b.is_ascii_lowercase());
    if starts && name.len() <= NAME_MAX && name.bytes().all(legal) {
        return Ok(());
    }
    let shown: String = name.chars().take(80).flat_map(char::escape_debug).collect();
    Err(Failure::user(format!("`{shown}` is not a server name"))
        .hint("write a-z, 0-9, - and _, a letter first, at most 32: every nick begins with it"))
}
