//! A whole approval as lines of text, for the chat and the command line.

use std::path::Path;

use gangline_api::approval::wanted_of_row;
use gangline_core::{
    approval::{
        ApprovalState,
        view::{self, Around, Facts},
    },
    reading::Bounds,
    redact::Redactor,
};
use gangline_store::{AllowedBefore, ApprovalRow, MessageRow};

use crate::overwritten;

/// For whom it is made.
#[derive(Debug, Clone, Copy)]
pub struct Reader<'a> {
    /// What nobody is shown, as nothing of it is read by the agent.
    pub bounds: &'a Bounds,
    /// Hides what is secret in files.
    pub masks: &'a Redactor,
}

/// Returns everything that is known of an approval, a line each: behind the title, and with what
/// `always` would store. While it can be decided, a file that
/// would be written over is compared with what it holds now.
#[must_use]
pub fn lines(
    (title, always): (&str, Option<&str>),
    row: &ApprovalRow,
    asked: Option<&MessageRow>,
    reader: Reader<'_>,
) -> Vec<String> {
    let asked = asked.map(|it| view::asked(&it.sender, &it.target, it.id));
    let before = row.before.as_ref().map(AllowedBefore::note);
    let facts = Facts {
        title,
        always,
        before: before.as_deref(),
        asked: asked.as_deref(),
        tool: &row.tool,
        said_before: row.said_before.as_ref().map_or("", |said| said.as_str()),
    };
    let folder = row.folder.as_ref().map_or("", |folder| folder.as_str());
    let around = Around { agent: row.agent.as_str(), asker: None, folder, home: None };
    let wanted = wanted_of_row(&row.tool, row.detail.as_str());
    let wanted = match row.state {
        ApprovalState::Open | ApprovalState::Void if !folder.is_empty() => {
            overwritten::compared(wanted, (Path::new(folder), reader.bounds), reader.masks)
        }
        ApprovalState::Open
        | ApprovalState::Void
        | ApprovalState::Allowed
        | ApprovalState::Denied
        | ApprovalState::Withdrawn => wanted,
    };
    view::card(facts, &wanted, around)
}
