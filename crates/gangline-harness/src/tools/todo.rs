//! `TodoWrite`: the model's own list of steps, in memory.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tool::{Fields, Tool, ToolContext, ToolError};

/// Replaces the list of steps as a whole; the list lives as long as the tool.
#[derive(Default)]
pub struct TodoWrite {
    list: Mutex<Vec<Todo>>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
}

impl TodoWrite {
    /// Returns the list as it stands.
    pub fn list(&self) -> Vec<Todo> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl Tool for TodoWrite {
    fn name(&self) -> &str {
        "TodoWrite"
    }

    fn description(&self) -> &str {
        "Keeps the list of steps of the task at hand; each call replaces the whole list."
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "todos": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {"type": "string"},
                            "status": {"type": "string",
                                "enum": ["pending", "in_progress", "completed"]},
                        },
                        "required": ["content", "status"],
                    },
                },
            },
            "required": ["todos"],
        })
    }

    async fn execute(&self, _: &ToolContext, input: Value) -> Result<String, ToolError> {
        let todos: Vec<Todo> = Fields::new(input)?.required("todos")?;
        if todos.iter().any(|todo| todo.content.trim().is_empty()) {
            return Err(ToolError::field("todos", "has a step without content"));
        }
        let mut text = String::new();
        for Todo { content, status } in &todos {
            let mark = match status {
                TodoStatus::Pending => ' ',
                TodoStatus::InProgress => '>',
                TodoStatus::Completed => 'x',
            };
            let _ = writeln!(text, "[{mark}] {content}");
        }
        *self.list.lock().unwrap_or_else(PoisonError::into_inner) = todos;
        Ok(if text.is_empty() { "[the list is empty]".to_owned() } else { text })
    }
}
