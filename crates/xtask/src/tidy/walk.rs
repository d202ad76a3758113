//! The table of the queues that a mention crosses says what is in the code (`cargo xtask walk`).

use super::{Finding, Repo};
use crate::walk::{DOCUMENT, left_behind};

pub(super) fn check(repo: &Repo) -> Vec<Finding> {
    let document = repo.files.text(DOCUMENT).unwrap_or_default();
    let wrong = left_behind(document, |file| repo.files.text(file).map(str::to_owned));
    let wrong = wrong.unwrap_or_else(|error| vec![error.to_string()]);
    wrong.into_iter().map(|text| Finding::fail(DOCUMENT, 0, text)).collect()
}
