//! Columns: as wide as their widest cell, the last one free.

use super::text::{Paint, paint, wrap};

#[cfg(test)]
mod tests;

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    text: String,
    paint: Paint,
}

impl Cell {
    /// Returns a cell that is painted.
    pub(crate) fn painted(paint: Paint, text: impl Into<String>) -> Self {
        Self { text: text.into(), paint }
    }

    /// Returns how many columns its text takes.
    pub(crate) fn width(&self) -> usize {
        self.text.chars().count()
    }

    /// Cuts its text to `width` columns.
    pub(crate) fn cut(&mut self, width: usize) {
        if self.width() > width {
            self.text = self.text.chars().take(width.saturating_sub(1)).chain(['…']).collect();
        }
    }

    /// Returns the cell's text, painted.
    pub(crate) fn shown(&self) -> String {
        paint(self.paint, &self.text)
    }
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self::painted(Paint::Plain, text)
    }
}

/// Fewer columns than this are not made of a text.
const NARROWEST: usize = 30;

/// Returns the lines of a table with a heading.
pub(crate) fn table<const N: usize>(heading: [&str; N], rows: &[[Cell; N]]) -> String {
    wrapped(heading, rows, None)
}

/// Returns the same for a terminal of `columns`: the text of the last column is broken between words.
pub(crate) fn wrapped<const N: usize>(
    heading: [&str; N],
    rows: &[[Cell; N]],
    columns: Option<usize>,
) -> String {
    let heading = heading.map(|text| Cell::painted(Paint::Bold, text));
    let all = || std::iter::once(&heading).chain(rows);
    let mut widths = [0; N];
    for (column, width) in widths.iter_mut().enumerate() {
        *width = all().map(|row| row[column].text.chars().count()).max().unwrap_or(0);
    }
    let indent: usize = widths.iter().take(N.saturating_sub(1)).map(|width| width + 2).sum();
    let room = columns.map(|columns| columns.saturating_sub(indent).max(NARROWEST));
    let mut out = String::new();
    for row in all() {
        for (column, cell) in row.iter().enumerate() {
            if column + 1 < N {
                out.push_str(&cell.shown());
                let gap = widths[column] + 2 - cell.text.chars().count();
                out.push_str(&" ".repeat(gap));
            } else if let Some(room) = room.filter(|room| cell.width() > *room) {
                let lines = wrap(&cell.text, room);
                let lines: Vec<String> = lines.iter().map(|line| paint(cell.paint, line)).collect();
                out.push_str(&lines.join(&format!("\n{}", " ".repeat(indent))));
            } else {
                out.push_str(&cell.shown());
            }
        }
        out.push('\n');
    }
    out
}
