//! What a program in a terminal may load of its folder (0042, 0055): the same as one that is not in a
//! terminal. Its own question about the folder is answered by us, so that it protects nothing.

use crate::{
    StartOptions,
    folder::{self, Load, Without, programs, project::Project, projects},
};

/// What is added to the program's start.
#[derive(Debug, Default)]
pub(super) struct Folder {
    /// Arguments that leave out what lies in the folder, and that load the copy's plugins.
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(String, String)>,
    /// The system prompt; with the project's instructions, where the switch leaves them out too.
    pub(super) prompt: String,
    /// What an owner has allowed, from Gangline's copy.
    pub(super) project: Project,
    pub(super) notices: Vec<String>,
}

impl Folder {
    /// Looks at the folder for a program that is started by these words. It blocks its thread.
    ///
    /// # Errors
    /// Why the program cannot start here, with the command that allows it.
    pub(super) fn of(options: &StartOptions, words: &[String]) -> Result<Self, String> {
        let brings = programs::in_terminal(words, options.extra.get("screen"));
        let decided = folder::decide(options, brings)?;
        let mut found = Self { prompt: options.system_prompt.clone(), ..Self::default() };
        match brings.without {
            Without::Switch { args, env } => {
                found.args.extend(args.iter().map(|it| (*it).to_owned()));
                let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
                found.env.extend(env);
                (found.prompt, found.notices) = folder::with_instructions(options);
            }
            Without::Adapter(_) if !brings.items.is_empty() => {
                found.args.extend(projects::words(options, &decided));
            }
            Without::Adapter(_) | Without::NoSwitch => {}
        }
        found.notices.extend(decided.notice);
        if let Load::Copy(copied) = decided.load {
            found.project = Project::of(&copied, &options.workdir).unwrap_or_else(|why| {
                let why = format!("what the folder brings along is not loaded: {why}");
                found.notices.push(why);
                Project::default()
            });
            found.notices.extend(found.project.notice());
        }
        for plugin in &found.project.plugins {
            found.args.extend(["--plugin-dir".to_owned(), plugin.display().to_string()]);
        }
        Ok(found)
    }
}
