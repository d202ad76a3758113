//! A screen as tmux tells it, and what can be read off it. Pure.
//!
//! Rows are counted from the top of the visible part; a *line* is counted from the beginning of the
//! history, so it stays the same when the screen scrolls.

use std::path::PathBuf;

use super::profile::{Kind, Profile};

#[cfg(test)]
mod tests;

/// What tmux is asked to tell before the rows.
pub(super) const FORMAT: &str = "#{pane_dead} #{pane_dead_status}, #{pane_dead_signal}, \
     #{pane_in_mode} #{cursor_x} #{cursor_y} #{history_size} #{pane_tty}";

/// Rows at the bottom, empty ones not counted, in which a program tells what it does.
const BOTTOM: usize = 12;
/// The most that is quoted of a program's last line, in characters.
const LAST_WORDS: usize = 500;
/// No terminal of tmux has more columns or rows.
const SIDE_MAX: usize = 10_000;
/// Rows before the cursor that are taken for the input when its beginning has scrolled away.
const TALL_INPUT: usize = 5;

/// How a program in the pane ended; neither is known in its first moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Death {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
}

/// The visible part of the pane.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Screen {
    pub(super) rows: Vec<String>,
    /// Column and row.
    pub(super) cursor: (usize, usize),
    pub(super) history: usize,
    /// Somebody looks back in it, so it takes no keys.
    pub(super) in_mode: bool,
    pub(super) dead: Option<Death>,
    pub(super) tty: PathBuf,
    /// The program has lent its terminal to a job: it works, whatever the screen shows.
    pub(super) lent: bool,
    /// The terminal gathers lines, and throws away what is too long for one.
    pub(super) line_mode: bool,
}

impl Screen {
    /// Reads what tmux wrote: a line of [`FORMAT`], then the rows. `None` if it is neither. What the
    /// system knows is not in it.
    pub(super) fn parse(output: &str) -> Option<Self> {
        let (head, rest) = output.split_once('\n')?;
        let fields: Vec<&str> = head.split(' ').collect();
        let [dead, code, signal, mode, x, y, history, tty] = fields[..] else { return None };
        let number = |field: &str| field.strip_suffix(',').and_then(|it| it.parse().ok());
        let death = Death { code: number(code), signal: number(signal) };
        let within = |side: &str| side.parse().ok().filter(|at: &usize| *at <= SIDE_MAX);
        Some(Self {
            rows: rest.lines().map(|row| row.trim_end().to_owned()).collect(),
            cursor: (within(x)?, within(y)?),
            history: usize::try_from(history.parse::<u32>().ok()?).ok()?,
            in_mode: mode != "0",
            dead: (dead == "1").then_some(death),
            tty: PathBuf::from(tty),
            lent: false,
            line_mode: false,
        })
    }

    /// Returns the line of the cursor.
    pub(super) fn cursor_line(&self) -> usize {
        self.history + self.cursor.1
    }

    /// Returns what stands before the cursor in its row, filled up with spaces.
    fn before_cursor(&self) -> String {
        let (x, y) = self.cursor;
        let row = self.rows.get(y).map_or("", String::as_str);
        format!("{row:<x$}").chars().take(x).collect()
    }

    /// Returns the sign by which the program wants the rest of what was typed, if it stands alone
    /// before the cursor.
    pub(super) fn wants_more<'a>(&self, profile: &'a Profile) -> Option<&'a str> {
        let before = self.before_cursor();
        let sign = profile.more.iter().find(|sign| before.trim() == sign.as_str());
        sign.filter(|_| !self.lent).map(String::as_str)
    }

    /// Returns the last rows that are not empty, the last one first.
    fn bottom(&self) -> impl Iterator<Item = &String> {
        self.rows.iter().rev().filter(|row| !row.trim().is_empty()).take(BOTTOM)
    }

    fn bottom_has(&self, texts: &[String]) -> bool {
        self.bottom().any(|row| texts.iter().any(|text| row.contains(text.as_str())))
    }

    /// Says whether a text is anywhere on the screen, wherever its line breaks.
    pub(super) fn has(&self, text: &str) -> bool {
        squash(&self.rows.join("")).contains(&squash(text))
    }

    /// Returns the last row that is not empty, for people.
    pub(super) fn last_words(&self) -> &str {
        self.bottom().find(|row| !squash(row).is_empty()).map_or("", |row| row.trim())
    }

    /// Returns the letters that it shows, without the rows in which it tells that it works.
    pub(super) fn words(&self, profile: &Profile) -> String {
        let tells = |row: &&String| profile.busy.iter().any(|text| row.contains(text.as_str()));
        let rows = self.rows.iter().filter(|row| !tells(row));
        rows.flat_map(|row| row.chars()).filter(|c| c.is_alphabetic()).collect()
    }

    /// Says whether the program shows that it works.
    pub(super) fn busy(&self, profile: &Profile) -> bool {
        self.lent || self.bottom_has(&profile.busy)
    }

    /// Says whether the program waits for a human. An answer may say the same words: where a box
    /// takes a prompt, and nothing can be chosen, it is one.
    pub(super) fn asks(&self, profile: &Profile) -> bool {
        let takes = profile.kind == Kind::Box && self.takes_prompts(profile);
        self.bottom_has(&profile.asks) && !takes
    }

    /// Says whether the input is open, and is not the list of a dialog.
    pub(super) fn takes_prompts(&self, profile: &Profile) -> bool {
        self.ready(profile) && !self.chooses(profile)
    }

    /// Says whether the input's sign stands before one of a numbered list.
    fn chooses(&self, profile: &Profile) -> bool {
        self.bottom().any(|row| {
            let bare = row.trim_start_matches(is_border);
            let sign = profile.ready.iter().find(|sign| begins(bare, sign));
            let rest = sign.map_or("", |sign| bare[sign.trim_end().len()..].trim_start());
            let (number, more) = rest.split_once('.').unwrap_or_default();
            !number.is_empty()
                && number.chars().all(|c| c.is_ascii_digit())
                && (more.is_empty() || more.starts_with([' ', '\u{a0}']))
        })
    }

    /// Says whether the program would take a prompt now; never, where its sign is not known.
    pub(super) fn ready(&self, profile: &Profile) -> bool {
        if self.lent {
            return false;
        }
        match profile.kind {
            Kind::Line => {
                let before = self.before_cursor();
                let row = self.rows.get(self.cursor.1).map_or("", String::as_str);
                let nothing_behind = row.trim_end().chars().count() <= self.cursor.0;
                nothing_behind && profile.ready.iter().any(|sign| before.ends_with(sign.as_str()))
            }
            // The list of a dialog has the sign too, with the cursor on it instead of behind.
            Kind::Box => self.input_row(profile).is_some_and(|(row, column)| {
                row <= self.cursor.1 && (row < self.cursor.1 || self.cursor.0 >= column)
            }),
        }
    }

    /// Returns the row in which the input begins and the column behind its sign.
    pub(super) fn input_row(&self, profile: &Profile) -> Option<(usize, usize)> {
        match profile.kind {
            Kind::Line => {
                let row = self.before_cursor();
                let ends = profile.ready.iter().filter_map(|sign| {
                    row.find(sign.as_str()).map(|at| row[..at + sign.len()].chars().count())
                });
                ends.min().map(|column| (self.cursor.1, column))
            }
            Kind::Box => {
                let until = self.rows.len().min(self.cursor.1 + 1);
                (0..until).rev().find_map(|row| {
                    let text = &self.rows[row];
                    let bare = text.trim_start_matches(is_border);
                    let skipped = text.chars().count() - bare.chars().count();
                    let sign = profile.ready.iter().find(|sign| begins(bare, sign))?;
                    Some((row, skipped + sign.chars().count()))
                })
            }
        }
    }

    /// Returns what stands in the input, without spaces and borders: all from its sign, or from a
    /// line, to the cursor.
    pub(super) fn input(&self, profile: &Profile, from_line: Option<usize>) -> String {
        let last = self.cursor.1;
        let from_line = from_line.map(|line| line.saturating_sub(self.history));
        let (first, column) = match (self.input_row(profile), profile.kind, from_line) {
            (Some(place), Kind::Box, _) | (Some(place), Kind::Line, None) => place,
            (_, Kind::Line, Some(row)) => (row.min(last), 0),
            (None, Kind::Line, None) => (last, 0),
            (None, Kind::Box, _) => (last.saturating_sub(TALL_INPUT), 0),
        };
        self.rows_from((first, column), |_| 0)
    }

    /// Returns the same where a program begins each row of a long line with the sign of its prompt;
    /// `None` if it does not.
    pub(super) fn input_with_signs(&self, profile: &Profile, from_line: usize) -> Option<String> {
        let last = self.cursor.1;
        let first = from_line.checked_sub(self.history)?;
        let sign = |row: &str| {
            let signs = profile.ready.iter().filter(|sign| begins(row, sign));
            signs.map(|sign| sign.chars().count()).max()
        };
        let rows = self.rows.get(first + 1..=last)?;
        if profile.kind != Kind::Line
            || rows.is_empty()
            || !rows.iter().all(|it| sign(it).is_some())
        {
            return None;
        }
        Some(self.rows_from((first, 0), |row| sign(row).unwrap_or(0)))
    }

    /// Returns what stands from a place to the cursor, without spaces and borders; of each later row
    /// so many characters are left out as are told.
    fn rows_from(
        &self,
        (first, column): (usize, usize),
        skipped: impl Fn(&str) -> usize,
    ) -> String {
        let last = self.cursor.1;
        let mut text = String::new();
        for row in first..=last {
            let shown = if row == last {
                self.before_cursor()
            } else {
                self.rows.get(row).cloned().unwrap_or_default()
            };
            let skip = if row == first { column } else { skipped(&shown) };
            text.extend(shown.chars().skip(skip));
        }
        squash(&text)
    }
}

/// The last words of a program that has shown nothing.
pub(super) const SILENT: &str = "(empty)";

/// Returns the last of these lines that is not empty and not tmux's own word about a program's end,
/// as a line of [`LAST_WORDS`] characters at most.
pub(super) fn before_death(lines: &[String]) -> String {
    let mut lines = lines.iter().rev().map(|line| line.trim());
    let last = lines.find(|line| !line.is_empty() && !line.starts_with("Pane is dead"));
    last.unwrap_or(SILENT).chars().take(LAST_WORDS).collect()
}

/// Says whether a row begins with a sign; the space at the sign's end may be a hard one, or cut
/// off at the row's end.
fn begins(row: &str, sign: &str) -> bool {
    let Some(rest) = row.strip_prefix(sign.trim_end()) else { return false };
    sign.trim_end() == sign || rest.is_empty() || rest.starts_with([' ', '\u{a0}'])
}

/// Says whether a character belongs to a frame rather than to a text.
pub(super) fn is_border(c: char) -> bool {
    c.is_whitespace() || ('\u{2500}'..='\u{259f}').contains(&c)
}

/// Returns a text without spaces, line ends and frames, so that it compares wherever it is broken.
pub(super) fn squash(text: &str) -> String {
    text.chars().filter(|c| !is_border(*c)).collect()
}
