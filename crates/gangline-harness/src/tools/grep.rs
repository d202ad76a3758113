//! `Grep`: lines by regular expression.

use std::io;

use async_trait::async_trait;
use globset::GlobMatcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Place, blocking, glob};
use crate::tool::{Fields, Tool, ToolContext, ToolError, shorten};

const DEFAULT_LINES: usize = 500;
const LINE_LIMIT: usize = 500;
const HEAP_LIMIT: usize = 16 << 20;

/// Searches files for a regular expression; binary and ignored files are left out.
pub struct Grep;

#[derive(Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Mode {
    #[default]
    FilesWithMatches,
    Content,
    Count,
}

#[async_trait]
impl Tool for Grep {
    fn name(&self) -> &str {
        "Grep"
    }

    fn description(&self) -> &str {
        "Searches files for a regular expression. output_mode content shows path:line:text, \
         count the number of lines per file, files_with_matches (default) paths only."
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "Regular expression, for one line"},
                "path": {"type": "string", "description": "Folder or file, default the current"},
                "glob": {"type": "string", "description": "Only files that match, such as *.rs"},
                "output_mode": {"type": "string",
                    "enum": ["files_with_matches", "content", "count"]},
                "case_insensitive": {"type": "boolean"},
                "context": {"type": "integer", "minimum": 0,
                    "description": "Lines to show around each match"},
                "head_limit": {"type": "integer", "minimum": 1,
                    "description": "Most lines of the result, default 500"},
            },
            "required": ["pattern"],
        })
    }

    async fn execute(&self, ctx: &ToolContext, input: Value) -> Result<String, ToolError> {
        let mut fields = Fields::new(input)?;
        let pattern = RegexMatcherBuilder::new()
            .case_insensitive(fields.optional("case_insensitive")?.unwrap_or_default())
            .line_terminator(Some(b'\n'))
            .build(&fields.required::<String>("pattern")?)
            .map_err(|error| ToolError::field("pattern", format!("cannot be used: {error}")))?;
        let search = Search {
            pattern,
            only: fields.optional::<String>("glob")?.as_deref().map(only).transpose()?,
            base: Place::of(ctx, &fields.optional::<String>("path")?.unwrap_or(".".to_owned())),
            mode: fields.optional("output_mode")?.unwrap_or_default(),
            context: fields.optional("context")?.unwrap_or(0).min(50),
            limit: fields.optional("head_limit")?.unwrap_or(DEFAULT_LINES).max(1),
            ctx: ctx.clone(),
        };
        blocking(move || search.run()).await
    }
}

/// A pattern without a folder means files of that name anywhere.
fn only(pattern: &str) -> Result<GlobMatcher, ToolError> {
    match pattern.contains('/') {
        true => glob::matcher("glob", pattern),
        false => glob::matcher("glob", &format!("**/{pattern}")),
    }
}

struct Search {
    pattern: RegexMatcher,
    only: Option<GlobMatcher>,
    base: Place,
    mode: Mode,
    context: usize,
    limit: usize,
    ctx: ToolContext,
}

impl Search {
    fn run(self) -> Result<String, ToolError> {
        let context = if self.mode == Mode::Content { self.context } else { 0 };
        let mut searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .heap_limit(Some(HEAP_LIMIT))
            .before_context(context)
            .after_context(context)
            .build();
        let mut lines = Vec::new();
        for (file, relative) in glob::files(&self.base, &self.ctx)? {
            if self.only.as_ref().is_some_and(|only| !only.is_match(&relative)) {
                continue;
            }
            if lines.len() > self.limit {
                break;
            }
            let name = file.named.display().to_string();
            let room = self.limit.saturating_add(1) - lines.len();
            let mut found = Found { search: &self, name: &name, room, lines: Vec::new(), count: 0 };
            // A file that may not be read, or has a line beyond the limit, is as good as absent.
            if let Ok((file, _)) = file.open_regular() {
                let _searched = searcher.search_file(&self.pattern, &file, &mut found);
            }
            lines.append(&mut found.finish());
        }
        if self.ctx.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        if lines.is_empty() {
            return Ok("[nothing matches]".to_owned());
        }
        if lines.len() > self.limit {
            lines.truncate(self.limit);
            lines.push("[more follows; narrow the search or raise head_limit]".to_owned());
        }
        Ok(lines.join("\n"))
    }
}

/// What one file gave.
struct Found<'a> {
    search: &'a Search,
    name: &'a str,
    room: usize,
    lines: Vec<String>,
    count: u64,
}

impl Found<'_> {
    fn finish(self) -> Vec<String> {
        match self.search.mode {
            Mode::Content => self.lines,
            Mode::FilesWithMatches | Mode::Count if self.count == 0 => Vec::new(),
            Mode::FilesWithMatches => vec![self.name.to_owned()],
            Mode::Count => vec![format!("{}:{}", self.name, self.count)],
        }
    }

    /// Keeps a line, returns whether the search goes on.
    fn take(&mut self, number: Option<u64>, mark: char, line: &[u8]) -> bool {
        let text = String::from_utf8_lossy(line);
        let text = shorten(text.trim_end_matches(['\n', '\r']).to_owned(), LINE_LIMIT);
        let number = number.unwrap_or_default();
        self.lines.push(format!("{}{mark}{number}{mark}{text}", self.name));
        self.lines.len() < self.room
    }
}

impl Sink for Found<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        self.count += 1;
        if self.search.ctx.cancel.is_cancelled() {
            return Ok(false);
        }
        Ok(match self.search.mode {
            Mode::FilesWithMatches => false,
            Mode::Count => true,
            Mode::Content => self.take(found.line_number(), ':', found.bytes()),
        })
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, io::Error> {
        Ok(self.take(found.line_number(), '-', found.bytes()))
    }
}
