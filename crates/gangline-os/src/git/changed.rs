//! Which files differ between two commits, and the links of a commit.

use std::{collections::BTreeMap, ffi::OsString};

use super::{GitError, ObjectId, Repository};

/// The mode of a link in a tree.
const LINK: &str = "120000";
/// The most that is read of a list of all files.
const LISTED_MAX: u64 = 16 * 1024 * 1024;

/// A file that differs between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedFile {
    /// Its path, from the top folder.
    pub path: String,
    /// What becomes of it, as git writes it: `A` added, `D` removed, `M` changed, `T` another kind.
    pub status: String,
    /// How many lines come and go; `None` of what is no text.
    pub lines: Option<(u64, u64)>,
    /// Its mode, before and after, if that differs.
    pub modes: Option<(String, String)>,
}

impl Repository {
    /// Returns every file that differs between two commits, in the order of their paths.
    ///
    /// # Errors
    /// As every step.
    pub async fn changed(
        &self,
        before: &ObjectId,
        after: &ObjectId,
    ) -> Result<Vec<ChangedFile>, GitError> {
        let mut counts = BTreeMap::new();
        let said = self.compared("--numstat", (before, after)).await?;
        for record in said.split('\0') {
            let mut parts = record.splitn(3, '\t');
            if let (Some(added), Some(removed), Some(path)) =
                (parts.next(), parts.next(), parts.next())
            {
                let lines = added.parse().ok().zip(removed.parse().ok());
                counts.insert(path.to_owned(), lines);
            }
        }
        let said = self.compared("--raw", (before, after)).await?;
        let mut records = said.split('\0');
        let mut files = Vec::new();
        while let (Some(head), Some(path)) = (records.next(), records.next()) {
            let words: Vec<&str> = head.trim_start_matches(':').split(' ').collect();
            let [was, is, .., status] = words.as_slice() else { continue };
            files.push(ChangedFile {
                lines: counts.get(path).copied().flatten(),
                path: path.to_owned(),
                status: (*status).to_owned(),
                modes: (was != is).then(|| ((*was).to_owned(), (*is).to_owned())),
            });
        }
        Ok(files)
    }

    /// Returns the links of a commit: their paths, and what they point to.
    ///
    /// # Errors
    /// As every step.
    pub async fn links(&self, id: &ObjectId) -> Result<BTreeMap<String, String>, GitError> {
        let args = ["ls-tree", "-r", "-z", "--full-tree", id.as_str()].map(OsString::from);
        let said = self.bytes(&args, (None, LISTED_MAX)).await?;
        let said = String::from_utf8_lossy(&said);
        let link = |record: &str| {
            let (facts, path) = record.split_once('\t')?;
            let facts: Vec<&str> = facts.split(' ').collect();
            match facts.as_slice() {
                [LINK, _, blob] => Some((path.to_owned(), (*blob).to_owned())),
                [..] => None,
            }
        };
        let (paths, blobs): (Vec<String>, Vec<String>) = said.split('\0').filter_map(link).unzip();
        if paths.is_empty() {
            return Ok(BTreeMap::new());
        }
        let input = blobs.join("\n") + "\n";
        let args = ["cat-file", "--batch"].map(OsString::from);
        let said = self.bytes(&args, (Some(input.as_bytes()), LISTED_MAX)).await?;
        Ok(paths.into_iter().zip(batched(&said)).collect())
    }

    async fn compared(
        &self,
        form: &str,
        (before, after): (&ObjectId, &ObjectId),
    ) -> Result<String, GitError> {
        let (before, after) = (before.as_str(), after.as_str());
        let args = ["diff", form, "-z", "--no-ext-diff", "--no-textconv", "--no-renames"];
        let args = args.into_iter().chain(["--no-abbrev", before, after, "--"]);
        self.run(&args.collect::<Vec<_>>()).await
    }
}

/// Returns the contents that `cat-file --batch` says: of each a line with its length, itself, a line break.
fn batched(mut said: &[u8]) -> Vec<String> {
    let mut contents = Vec::new();
    while let Some(end) = said.iter().position(|byte| *byte == b'\n') {
        let (head, rest) = said.split_at(end);
        let head = String::from_utf8_lossy(head);
        let length = head.rsplit(' ').next().and_then(|length| length.parse::<usize>().ok());
        let Some(content) = length.and_then(|length| rest.get(1..=length)) else { break };
        contents.push(String::from_utf8_lossy(content).into_owned());
        said = rest.get(content.len() + 2..).unwrap_or_default();
    }
    contents
}
