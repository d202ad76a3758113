//! Which approval a command is about.

use clap::Args;
use gangline_core::ApprovalNumber;

#[derive(Debug, Args)]
pub(crate) struct Decide {
    /// The approval's number
    #[arg(value_parser = number)]
    pub(crate) number: ApprovalNumber,
    /// The reason; the model reads it if the call is refused
    #[arg(long, value_name = "TEXT", alias = "note")]
    pub(crate) reason: Option<String>,
}

/// Reads an approval's number.
pub(crate) fn number(text: &str) -> Result<ApprovalNumber, &'static str> {
    if text.parse::<gangline_core::MessageId>().is_ok() {
        return Err(
            "this is a message, which `gangline trace` shows; an approval has a bare number, \
                    such as 12: `gangline approvals` lists them",
        );
    }
    text.parse().map(ApprovalNumber).map_err(|_| "give the approval's number, such as 12")
}
