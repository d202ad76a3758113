//! `Skill`: what a skill says, read when it is asked for.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};

use super::blocking;
use crate::instructions::Skill;
use crate::tool::{Fields, Tool, ToolContext, ToolError};

/// Gives the text of a skill, and the folder that its own paths start from.
pub struct Skills {
    skills: Vec<Skill>,
}

impl Skills {
    /// Makes the tool for these skills.
    pub fn new(skills: Vec<Skill>) -> Self {
        Self { skills }
    }

    /// Returns the tool, if there is a skill.
    pub fn offered(skills: &[Skill]) -> Option<Arc<dyn Tool>> {
        (!skills.is_empty()).then(|| Arc::new(Self::new(skills.to_vec())) as Arc<dyn Tool>)
    }

    fn find(&self, name: &str) -> Option<&Skill> {
        let name = name.trim().trim_start_matches('/');
        self.skills.iter().find(|skill| skill.name == name)
    }
}

#[async_trait]
impl Tool for Skills {
    fn name(&self) -> &str {
        "Skill"
    }

    fn description(&self) -> &str {
        "Reads the instructions of a skill. The skills are listed in the system prompt."
    }

    fn input_schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The skill's name"},
            },
            "required": ["name"],
        })
    }

    async fn execute(&self, _: &ToolContext, input: Value) -> Result<String, ToolError> {
        let mut fields = Fields::new(input)?;
        // Other programs call the field so, and models remember it.
        let name = match fields.optional::<String>("skill")? {
            Some(name) => name,
            None => fields.required("name")?,
        };
        let Some(skill) = self.find(&name).cloned() else {
            let names: Vec<&str> = self.skills.iter().map(|skill| skill.name.as_str()).collect();
            let reason = format!("names no skill; there is: {}", names.join(", "));
            return Err(ToolError::field("name", reason));
        };
        blocking(move || {
            let missing = || ToolError::failed(format!("cannot read {}", skill.file.display()));
            skill.body().ok_or_else(missing)
        })
        .await
    }
}
