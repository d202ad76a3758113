//! `gangline runtime`: which backends there are, which is usual, and whether they work.

mod deep;
mod lab;
mod list;
mod shown;
mod usual;

use std::path::PathBuf;

use gangline_runtime::{conformance::dialect, registry};

use crate::{
    cli::{Global, RuntimeCommand, RuntimeDoctor, RuntimeSet},
    configuration,
    failure::Failure,
    output,
};

pub(super) async fn run(global: &Global, command: RuntimeCommand) -> Result<u8, Failure> {
    match command {
        RuntimeCommand::List(args) => list::run(global, args).await,
        RuntimeCommand::Set(RuntimeSet::Default { name }) => usual::run(&name),
        RuntimeCommand::Doctor(args) => doctor(global, &args).await,
    }
}

pub(super) async fn doctor(global: &Global, args: &RuntimeDoctor) -> Result<u8, Failure> {
    let known: Vec<_> =
        dialect::DIALECTS.iter().filter(|it| registry::maker(it.backend).is_ok()).collect();
    if let Some(name) =
        args.backends.iter().find(|name| known.iter().all(|it| it.backend != **name))
    {
        let names: Vec<&str> = known.iter().map(|it| it.backend).collect();
        let failure = Failure::user(format!("there is nothing to look at for `{name}`"));
        return Err(failure.hint(format!("there is: {}", names.join(", "))));
    }
    let wanted = |it: &&dialect::Dialect| {
        args.backends.is_empty() || args.backends.iter().any(|name| name == it.backend)
    };
    for problem in configuration::registry().problems() {
        output::note(&format!("error: {problem}"));
    }
    let mut looked = Vec::new();
    for dialect in known.into_iter().filter(wanted) {
        looked.push(deep::Entry { dialect: *dialect, found: deep::look(dialect).await });
    }
    match args.deep {
        true => {
            let telling = if args.times { deep::Telling::Times } else { deep::Telling::Verdicts };
            deep::deep(global, looked, telling).await
        }
        false => shown::looked(global, &looked),
    }
}

/// Returns the program of that name on the PATH.
fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}
