//! `gangline config check` and `gangline config schema`.

use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::{
    cli::Global, configuration, configuration::driven::Ordered, failure::Failure, output, place,
};

/// What `config check --json` prints.
#[derive(Serialize)]
struct Checked<'a> {
    config: &'a Path,
    ok: bool,
    agents: Vec<&'a str>,
    problems: Vec<Problem>,
    warnings: Vec<String>,
}

/// Something for which `up` refuses the file, or one agent of it.
#[derive(Serialize)]
struct Problem {
    /// The agent; absent if it is the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    error: String,
    hints: Vec<String>,
}

impl Problem {
    fn of(agent: Option<String>, failure: &Failure) -> Self {
        Self { agent, error: failure.sentence(), hints: failure.remedies() }
    }
}

pub(super) fn check(global: &Global, file: Option<PathBuf>) -> Result<u8, Failure> {
    let file = match file {
        Some(file) => file,
        None => place::plain(global)?.config_file,
    };
    let loaded = match configuration::load(&file) {
        Err(failure) if global.json => {
            let problems = vec![Problem::of(None, &failure)];
            let none =
                Checked { config: &file, ok: false, agents: vec![], problems, warnings: vec![] };
            output::json(&none)?;
            return Ok(failure.exit().code());
        }
        loaded => loaded?,
    };
    let server = loaded.unfit_server();
    let unfit = loaded.unfit(&Ordered::new());
    let mut warnings = loaded.warnings();
    warnings.extend(loaded.shared_folders());
    let code = server.as_ref().or(unfit.first().map(|it| &it.failure)).map(|it| it.exit().code());
    if global.json {
        let agents = unfit.iter().map(|it| Problem::of(Some(it.agent.to_string()), &it.failure));
        let problems = server.iter().map(|it| Problem::of(None, it)).chain(agents).collect();
        let agents = loaded.config.agents.iter().map(|agent| agent.nick.as_str()).collect();
        output::json(&Checked { config: &file, ok: code.is_none(), agents, problems, warnings })?;
        return Ok(code.unwrap_or(0));
    }
    warnings.iter().for_each(|warning| output::note(&format!("warning: {warning}")));
    loaded.shells().iter().for_each(|text| output::note(text));
    server.iter().for_each(Failure::report);
    unfit.iter().for_each(|unfit| unfit.failure.report());
    if code.is_none() {
        let agents = match loaded.config.agents.len() {
            1 => "1 agent".to_owned(),
            many => format!("{many} agents"),
        };
        output::print(&format!("{}: ok ({agents})\n", file.display()))?;
    }
    Ok(code.unwrap_or(0))
}

pub(super) fn schema() -> Result<u8, Failure> {
    output::json(&gangline_api::config::schema())?;
    Ok(0)
}
