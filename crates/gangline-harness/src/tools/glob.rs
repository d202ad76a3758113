//! `Glob`: files by name.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use gangline_os::names::{self, Found, Others};
use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use serde_json::{Value, json};

use super::{Place, blocking};
use crate::tool::{Fields, Tool, ToolContext, ToolError};

const RESULT_LIMIT: usize = 1000;
const FILES_LIMIT: usize = 200_000;

/// Finds files by a pattern; what version control ignores is left out. At most 1000.
pub struct Glob;

#[async_trait]
impl Tool for Glob {
    fn name(&self) -> &str {
        "Glob"
    }

    fn description(&self) -> &str {
        "Finds files whose path matches a pattern such as **/*.rs, sorted by path."
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "Pattern of paths below `path`"},
                "path": {"type": "string", "description": "Folder to search, default the current"},
            },
            "required": ["pattern"],
        })
    }

    async fn execute(&self, ctx: &ToolContext, input: Value) -> Result<String, ToolError> {
        let mut fields = Fields::new(input)?;
        let matcher = matcher("pattern", &fields.required::<String>("pattern")?)?;
        let path: Option<String> = fields.optional("path")?;
        let base = Place::of(ctx, path.as_deref().unwrap_or("."));
        let ctx = ctx.clone();
        blocking(move || {
            let mut found = Vec::new();
            for (file, relative) in files(&base, &ctx)? {
                if matcher.is_match(&relative) {
                    found.push(file.named.display().to_string());
                }
            }
            if found.is_empty() {
                return Ok("[no file matches]".to_owned());
            }
            let all = found.len();
            found.truncate(RESULT_LIMIT);
            if all > RESULT_LIMIT {
                found.push(format!("[{} more]", all - RESULT_LIMIT));
            }
            Ok(found.join("\n"))
        })
        .await
    }
}

/// Compiles a pattern in which `*` does not cross folders.
pub(super) fn matcher(field: &str, pattern: &str) -> Result<GlobMatcher, ToolError> {
    GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| ToolError::field(field, format!("is no pattern: {error}")))
}

/// Returns the regular files below `base`, or itself, with their paths below `base`; sorted.
/// Other file systems are not entered: reading a file of `/proc` may block for ever. What is closed
/// is left out, unless `base` itself lies in it: that was for the authorizer to say. A folder that
/// becomes a link meanwhile may add names; what is behind them is not opened.
pub(super) fn files(base: &Place, ctx: &ToolContext) -> Result<Vec<(Place, PathBuf)>, ToolError> {
    let Place { named, real } = base;
    if !real.exists() {
        return Err(ToolError::field("path", format!("does not exist: {}", named.display())));
    }
    let closed = ctx.closed.iter().filter(|closed| *closed != real);
    let closed: Vec<PathBuf> = closed.cloned().collect();
    let walk = WalkBuilder::new(real)
        .hidden(false)
        .require_git(false)
        .same_file_system(true)
        .filter_entry(move |entry| {
            entry.file_name() != ".git" && !closed.iter().any(|closed| closed == entry.path())
        })
        .sort_by_file_path(Path::cmp)
        .build();
    // Looked for once, when a file has several names.
    let mut others = None;
    let mut is_closed = |path: &Path| {
        std::fs::symlink_metadata(path).is_ok_and(|about| {
            names::has_several(&about) && {
                let others = others.get_or_insert_with(|| Others::below(&ctx.closed, &|_| true));
                others.have(&about) == Found::Yes
            }
        })
    };
    let mut files = Vec::new();
    for entry in walk {
        if ctx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        // A folder that may not be read hides its files, nothing else.
        let Ok(entry) = entry else { continue };
        if entry.file_type().is_some_and(|kind| kind.is_file()) && !is_closed(entry.path()) {
            let path = entry.into_path();
            let (named, relative) = match path.strip_prefix(real) {
                Ok(relative) if !relative.as_os_str().is_empty() => {
                    (named.join(relative), relative.to_owned())
                }
                Ok(_) | Err(_) => {
                    let name = path.file_name().map(PathBuf::from).unwrap_or_default();
                    (named.clone(), name)
                }
            };
            if files.len() == FILES_LIMIT {
                return Err(ToolError::field("path", format!("has over {FILES_LIMIT} files")));
            }
            files.push((Place { named, real: path }, relative));
        }
    }
    Ok(files)
}
