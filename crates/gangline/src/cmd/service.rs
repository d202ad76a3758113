//! `gangline service install`: units for systemd. It writes files and starts nothing.

use std::{fs, path::PathBuf};

use clap::Subcommand;
use gangline_config::AgentConfig;
use gangline_hub::units::{self, Installation, Scope, Server};

use crate::{
    caller,
    cli::Global,
    configuration::{self, Loaded},
    failure::Failure,
    output, place, program,
};

/// Where the machine's own units lie.
const SYSTEM: &str = "/etc/systemd/system";

/// Install or remove systemd units
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Service,
}

#[derive(Debug, Subcommand)]
enum Service {
    /// Write the units: one for the hub, and a template with one instance for each agent
    Install(ServiceInstall),
}

#[derive(Debug, clap::Args)]
pub(crate) struct ServiceInstall {
    /// For this user's systemd (the default)
    #[arg(long, conflicts_with = "system")]
    pub(crate) user: bool,
    /// For the machine's systemd; needs root
    #[arg(long)]
    pub(crate) system: bool,
    /// The user that the machine's systemd runs it as [default: the user who called sudo]
    #[arg(long, value_name = "NAME", requires = "system")]
    pub(crate) run_as: Option<String>,
    /// Print the units and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Remove the units instead
    #[arg(long)]
    pub(crate) uninstall: bool,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    match args.command {
        Service::Install(args) => install(global, args),
    }
}

fn install(global: &Global, args: ServiceInstall) -> Result<u8, Failure> {
    caller::refuse("install services")?;
    let folder = folder(&args)?;
    if args.uninstall {
        return uninstall(&args, &folder);
    }
    let (loaded, installation) = installation(global, &args)?;
    installation.check().map_err(|unfit| {
        Failure::user(unfit.to_string())
            .hint("use a path without these characters; nothing was written")
    })?;
    let mut files = vec![(folder.join(units::AGENT), units::agent(&installation))];
    if loaded.config.network.embedded {
        files.insert(0, (folder.join(units::HUB), units::hub(&installation)));
    }
    for (path, text) in &files {
        if args.dry_run {
            output::print(&format!("# {}\n{text}\n", path.display()))?;
        } else {
            write(path, text)?;
            output::print(&format!("wrote {}\n", path.display()))?;
        }
    }
    output::print(&next(&args, &loaded, &installation))?;
    Ok(0)
}

fn installation(global: &Global, args: &ServiceInstall) -> Result<(Loaded, Installation), Failure> {
    let mut paths = place::plain(&global.place())?;
    let loaded = configuration::load(&paths.config_file)?;
    if let (None, Some(state)) = (&global.state, loaded.state()) {
        paths.state = state;
    }
    let scope = if args.system { Scope::System { user: user(args)? } } else { Scope::User };
    let folder = paths.config_file.parent().map_or_else(PathBuf::new, PathBuf::from);
    let installation = Installation {
        scope,
        program: program::path()?,
        environment: folder.join("gangline.env"),
        path: std::env::var("PATH").unwrap_or_else(|_| "/usr/local/bin:/usr/bin:/bin".to_owned()),
        server: match loaded.config.network.embedded {
            true => Server::Embedded,
            false => Server::Elsewhere,
        },
        config: paths.config_file,
        state: paths.state,
    };
    Ok((loaded, installation))
}

fn user(args: &ServiceInstall) -> Result<String, Failure> {
    let sudo = || std::env::var("SUDO_USER").ok().filter(|user| !user.is_empty() && user != "root");
    args.run_as.clone().or_else(sudo).ok_or_else(|| {
        Failure::user("which user should the agents run as?")
            .hint("name it with --run-as NAME; agents can do everything that this user may do")
    })
}

fn folder(args: &ServiceInstall) -> Result<PathBuf, Failure> {
    if args.system {
        return Ok(SYSTEM.into());
    }
    let absolute =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
    config.map(|config| config.join("systemd/user")).ok_or_else(|| {
        Failure::environment(anyhow::anyhow!("neither XDG_CONFIG_HOME nor HOME is set"))
            .doing("cannot find the folder of this user's units")
    })
}

fn write(path: &PathBuf, text: &str) -> Result<(), Failure> {
    let failed = |error| {
        Failure::environment(error)
            .doing(format!("cannot write {}", path.display()))
            .hint("--dry-run prints it")
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}

fn uninstall(args: &ServiceInstall, folder: &std::path::Path) -> Result<u8, Failure> {
    let ctl = ctl(args);
    let mut removed = false;
    for name in [units::HUB, units::AGENT] {
        let path = folder.join(name);
        if !path.exists() {
            continue;
        }
        removed = true;
        if args.dry_run {
            output::print(&format!("would remove {}\n", path.display()))?;
        } else {
            fs::remove_file(&path).map_err(|error| {
                Failure::environment(error).doing(format!("cannot remove {}", path.display()))
            })?;
            output::print(&format!("removed {}\n", path.display()))?;
        }
    }
    output::print(&match removed {
        true => format!(
            "Running processes keep running. To stop them:\n  {ctl} stop 'gangline-agent@*' \
             gangline\n  \
             {ctl} daemon-reload\n"
        ),
        false => format!("no units of Gangline's are in {}\n", folder.display()),
    })?;
    Ok(0)
}

fn ctl(args: &ServiceInstall) -> &'static str {
    if args.system { "systemctl" } else { "systemctl --user" }
}

/// Returns what to type next.
fn next(args: &ServiceInstall, loaded: &Loaded, installation: &Installation) -> String {
    let ctl = ctl(args);
    let hub = match installation.server {
        Server::Embedded => " gangline",
        Server::Elsewhere => "",
    };
    // A nick has no character that systemd would have to escape.
    let instance = |agent: &AgentConfig| format!(" gangline-agent@{}", agent.nick);
    let instances: String = loaded.enabled().map(instance).collect();
    let mut text = format!(
        "\nTo start them now and at every {}:\n  {ctl} daemon-reload\n  \
         {ctl} enable --now{hub}{instances}\n",
        if args.system { "boot" } else { "login" }
    );
    if !args.system {
        text.push_str("To keep them running after you log out:\n  loginctl enable-linger\n");
    }
    text.push_str(&format!(
        "Keys of models, one NAME=value a line, are read from:\n  {}\n",
        installation.environment.display()
    ));
    text
}
