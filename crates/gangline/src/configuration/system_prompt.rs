//! The file of an agent's system prompt (R1-57).

use gangline_config::AgentConfig;
use gangline_os::fsio;

use crate::failure::Failure;

/// The longest system prompt, in bytes.
const MAX: u64 = 256 * 1024;

/// Reads the file into the agent's system prompt, if it names one.
pub(super) fn read(agent: &mut AgentConfig) -> Result<(), Failure> {
    let Some(file) = agent.system_prompt_file.as_deref().filter(|_| agent.enabled) else {
        return Ok(());
    };
    let text = fsio::read_foreign_text(file, MAX).map_err(|error| {
        Failure::config(error)
            .doing(format!("cannot read the system prompt of {}", agent.nick))
            .hint("`system_prompt_file` names the file: write it, or remove the key")
    })?;
    agent.system_prompt = Some(text);
    Ok(())
}
