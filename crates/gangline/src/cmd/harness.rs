//! `gangline harness serve`: one native model loop over HTTP.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use clap::Subcommand;
use gangline_api::ready::ReadyLine;
use gangline_core::permission::READ_ONLY;
use gangline_harness::{
    Authorization, Authorizer, Config, Harness, ToolCall,
    http::{self, Feed, Surface},
    tools,
};
use gangline_hub::credentials;
use gangline_os::{clock, paths, process::base_env, secret::Secret};
use tokio::net::TcpListener;

use super::ircd::write_ready;
use crate::{
    caller,
    cli::{Global, number},
    failure::Failure,
    output, place,
};

/// The variable that holds the key of the model's interface.
const KEY: &str = "ANTHROPIC_API_KEY";

/// Run the native model loop without a chat server
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Serving,
}

#[derive(Debug, Subcommand)]
enum Serving {
    /// Serve one model loop over HTTP: GET /events, POST /prompt, POST /cancel
    Serve(HarnessServe),
}

#[derive(Debug, clap::Args)]
pub(crate) struct HarnessServe {
    /// The address to listen on; loopback only. Port 0 takes a free one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8669")]
    pub(crate) listen: SocketAddr,
    /// The model, an id or haiku, sonnet, opus
    #[arg(long)]
    pub(crate) model: Option<String>,
    /// The address of the model's API
    #[arg(long, value_name = "URL", env = "ANTHROPIC_BASE_URL")]
    pub(crate) base_url: Option<String>,
    /// Text put before the conversation
    #[arg(long, value_name = "TEXT")]
    pub(crate) system_prompt: Option<String>,
    /// The maximum number of loop iterations for one prompt
    #[arg(long, default_value_t = 10, value_parser = number::within::<u32>(0, number::ANY))]
    pub(crate) max_turns: u32,
    /// The folder its tools work in
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// The file that holds the bearer token; made if missing
    /// [default: harness.token in the state folder]
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Let every tool run without asking; only for sandboxes
    #[arg(long)]
    pub(crate) allow_all: bool,
    /// Write one JSON line to this file when everything is ready
    #[arg(long, value_name = "FILE")]
    pub(crate) ready_file: Option<PathBuf>,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    match args.command {
        Serving::Serve(args) => serve(global, args).await,
    }
}

async fn serve(global: &Global, args: HarnessServe) -> Result<u8, Failure> {
    let paths = place::unread(&global.place())?;
    let config = config(&args)?;
    let token_file = args.token_file.clone().unwrap_or_else(|| paths.state.join("harness.token"));
    let token = credentials::load_or_make(&token_file).map_err(Failure::environment)?;
    let listener = listen(&args).await?;
    let address = listener.local_addr().map_err(Failure::environment)?;
    let feed = Arc::new(Feed::new(clock::system()));
    let surface = Surface {
        harness: harness(&args, config, &feed)?,
        feed,
        token: token.clone(),
        heartbeat: Surface::HEARTBEAT,
        body_within: Surface::BODY_WITHIN,
    };
    let (stop, asked) = super::until_asked()?;
    output::print(&format!(
        "harness on http://{address}\nbearer token in {}\n",
        token_file.display()
    ))?;
    let ready = ReadyLine {
        pid: std::process::id(),
        irc: String::new(),
        http: Some(format!("http://{address}")),
        token: caller::readable(&token),
        token_file: Some(token_file),
        state: paths.state,
    };
    write_ready(args.ready_file.as_deref(), &ready)?;
    tokio::select! {
        served = http::serve(listener, surface, stop) => served.map_err(Failure::environment)?,
        () = asked => {}
    }
    Ok(0)
}

fn config(args: &HarnessServe) -> Result<Config, Failure> {
    let key = std::env::var(KEY).ok().filter(|key| !key.trim().is_empty());
    let key = match (key, &args.base_url) {
        (Some(key), _) => key,
        // A server of one's own may need none.
        (None, Some(_)) => "none".to_owned(),
        (None, None) => {
            return Err(Failure::config(anyhow::anyhow!(
                "there is no model key: {KEY} is not set"
            ))
            .hint("set it, or choose another server with --base-url")
            .hint("`gangline standin serve` is a server that needs no key"));
        }
    };
    let mut config = Config::new(Secret::new(key.trim()));
    config.max_turns = args.max_turns;
    config.cwd = match &args.directory {
        Some(folder) => paths::absolute(folder),
        None => std::env::current_dir().map_err(Failure::environment)?,
    };
    if !config.cwd.is_dir() {
        return Err(Failure::user(format!("there is no folder {}", config.cwd.display())));
    }
    config.system_prompt = args.system_prompt.clone().unwrap_or_default();
    if let Some(model) = &args.model {
        config.model.clone_from(model);
    }
    if let Some(url) = &args.base_url {
        url.trim_end_matches('/').clone_into(&mut config.base_url);
    }
    Ok(config)
}

async fn listen(args: &HarnessServe) -> Result<TcpListener, Failure> {
    if !args.listen.ip().is_loopback() {
        return Err(Failure::user(format!(
            "the harness is served on loopback only, not on {}",
            args.listen
        ))
        .hint("give --listen 127.0.0.1:PORT"));
    }
    TcpListener::bind(args.listen).await.map_err(|error| {
        Failure::environment(error).doing(format!("cannot listen on {}", args.listen))
    })
}

fn harness(args: &HarnessServe, config: Config, feed: &Arc<Feed>) -> Result<Harness, Failure> {
    let handler = Arc::clone(feed);
    let harness = Harness::new(config, tools::standard(base_env()), Some(handler))
        .map_err(Failure::config)?;
    Ok(if args.allow_all { harness } else { harness.authorized_by(Arc::new(OnlyLooking)) })
}

/// Lets those tools run that only look: nobody is there to be asked.
struct OnlyLooking;

#[async_trait]
impl Authorizer for OnlyLooking {
    async fn authorize(&self, call: &ToolCall) -> Authorization {
        if READ_ONLY.contains(&call.name.as_str()) {
            return Authorization::Allow;
        }
        Authorization::Deny {
            reason: format!(
                "{} is not permitted here: only {} are. The person who serves this loop can \
                 permit all tools by --allow-all",
                call.name,
                READ_ONLY.join(", ")
            ),
        }
    }
}
