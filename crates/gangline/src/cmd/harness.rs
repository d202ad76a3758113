//! `gangline harness serve`: one native model loop over HTTP.

use std::sync::Arc;

use async_trait::async_trait;
use gangline_api::ready::ReadyLine;
use gangline_core::permission::READ_ONLY;
use gangline_harness::{
    Authorization, Authorizer, Config, Harness, ToolCall,
    http::{self, Feed, Surface},
    tools,
};
use gangline_hub::credentials;
use gangline_os::{clock, process::base_env, secret::Secret};
use tokio::net::TcpListener;

use super::ircd::write_ready;
use crate::{
    cli::{Global, serve::HarnessServe},
    failure::Failure,
    output, place,
};

/// The variable that holds the key of the model's interface.
const KEY: &str = "ANTHROPIC_API_KEY";

pub(super) async fn serve(global: &Global, args: HarnessServe) -> Result<u8, Failure> {
    let paths = place::plain(global)?;
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
        token: token.expose().to_owned(),
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
            .hint("set it, or name another server by --base-url")
            .hint("`gangline standin serve` is a server that needs no key"));
        }
    };
    let mut config = Config::new(Secret::new(key.trim()));
    config.max_turns = args.max_turns;
    config.cwd = match &args.directory {
        Some(folder) => place::absolute(folder),
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
