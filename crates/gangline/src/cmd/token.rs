//! `gangline token`: makes, lists and revokes the tokens of programs outside.

use std::str::FromStr;

use clap::Subcommand;
use gangline_api::token::Token;
use gangline_core::{Redactor, digest::sha256_hex, shown, wake};
use gangline_os::{
    clock::{self, rfc3339},
    secret::{Secret, random_token},
};
use gangline_store::{NewToken, TokenRow, TokenScope};
use serde::Serialize;

use super::decide;
use crate::{caller, cli::Global, failure::Failure, names, output, place, show, store, who::Who};

/// What a token begins with; the redactor knows the form.
const PREFIX: &str = "glt_";
/// The longest label, in characters.
const LABEL_MAX: usize = 60;
/// How many bytes a SHA-256 has.
const HASH: usize = 32;

/// Make, list or revoke the tokens of programs that use the HTTP interface
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Make a token and print it, once: only its hash is stored
    Add {
        /// What it allows: mcp:NICK (an MCP client uses the agent's tools) or wake:NICK
        #[arg(long, value_name = "mcp:NICK|wake:NICK")]
        scope: Scope,
        /// What it is for, at most 60 characters; with wake:NICK the name of the program that wakes
        #[arg(long, value_name = "TEXT", default_value = "", value_parser = label)]
        label: String,
    },
    /// List the tokens: what each allows, who made it, when it was last used
    List,
    /// Revoke a token: it is refused from the next request on
    Revoke {
        /// The token's number
        #[arg(value_parser = number)]
        number: i64,
    },
}

/// What a token is to open.
#[derive(Debug, Clone)]
struct Scope(TokenScope, Who);

impl FromStr for Scope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || "give mcp:NICK or wake:NICK, such as mcp:oak-ada".to_owned();
        let (scope, who) = text.split_once(':').ok_or_else(wanted)?;
        let scope = scope.parse().map_err(|_| wanted())?;
        Ok(Self(scope, who.parse().map_err(|error| format!("{error}: {}", wanted()))?))
    }
}

/// What `token add --json` prints: the only time that a token is shown.
#[derive(Serialize)]
struct Made<'a> {
    token: &'a str,
    #[serde(flatten)]
    about: Token,
}

pub(super) async fn run(global: &Global, args: Args) -> Result<u8, Failure> {
    match args.command {
        What::Add { scope, label } => add(global, scope, label).await?,
        What::List => {
            let installation = place::existing(&global.place())?;
            let store = store::existing(&installation.paths).await?;
            let tokens: Vec<Token> = store.tokens().await?.iter().map(wire).collect();
            match global.json {
                true => output::json(&tokens)?,
                false => output::print(&show::token::list(&tokens, clock::system().now()))?,
            }
        }
        What::Revoke { number } => revoke(global, number).await?,
    }
    Ok(0)
}

async fn add(global: &Global, Scope(scope, who): Scope, label: String) -> Result<(), Failure> {
    caller::refuse("make tokens")?;
    let installation = place::existing(&global.place())?;
    let agent = names::agent(&installation, &who)?;
    let store = store::for_message(&installation.paths, &agent).await?;
    store::known(&store, &installation.paths, &agent).await?;
    let token = fresh();
    let hash = sha256_hex(token.expose().as_bytes(), HASH);
    let made_by = decide::owner();
    if scope == TokenScope::Wake {
        let label: Result<wake::Label, _> = label.parse();
        label.map_err(|error| Failure::user(error.to_string()).hint("give it by --label"))?;
    }
    // A secret in a label would be shown in lists and in the room.
    let label = Redactor::new([]).redact(&label).to_string();
    let row = store.add_token(NewToken { scope, agent, label, hash, made_by }).await?;
    let about = wire(&row);
    if global.json {
        return output::json(&Made { token: token.expose(), about });
    }
    output::note(&format!(
        "token {} for {} is shown here once: only its hash is stored. `gangline token revoke {}` \
         takes it back",
        about.number, about.scope, about.number
    ));
    output::print(&format!("{}\n", token.expose()))
}

async fn revoke(global: &Global, number: i64) -> Result<(), Failure> {
    caller::refuse("revoke tokens")?;
    let installation = place::existing(&global.place())?;
    let store = store::existing(&installation.paths).await?;
    let Some(row) = store.revoke_token(number).await? else {
        return Err(Failure::user(format!("there is no token {number}"))
            .hint("`gangline token list` shows the tokens"));
    };
    if row.revoked_at.is_some() {
        return Err(Failure::user(format!("token {number} is revoked already")));
    }
    if global.json {
        let rows = store.tokens().await?;
        return match rows.iter().find(|row| row.id == number) {
            Some(row) => output::json(&wire(row)),
            None => Ok(()),
        };
    }
    let scope = wire(&row).scope;
    output::print(&format!("token {number} for {scope} is revoked: it is refused from now on\n"))
}

/// Returns a new token: 256 random bits.
fn fresh() -> Secret {
    let random = format!("{}{}", random_token().expose(), random_token().expose());
    Secret::new(format!("{PREFIX}{}", sha256_hex(random.as_bytes(), HASH)))
}

fn wire(row: &TokenRow) -> Token {
    Token {
        number: row.id,
        scope: format!("{}:{}", row.scope, row.agent),
        agent: row.agent.clone(),
        label: shown::label(&row.label),
        made_by: shown::label(&row.made_by.account),
        made_at: rfc3339(row.made_at),
        used_at: row.used_at.map(rfc3339),
        revoked_at: row.revoked_at.map(rfc3339),
    }
}

fn label(text: &str) -> Result<String, String> {
    let text = text.trim();
    match text.chars().count() <= LABEL_MAX && !text.chars().any(char::is_control) {
        true => Ok(text.to_owned()),
        false => Err(format!("give at most {LABEL_MAX} characters on one line")),
    }
}

fn number(text: &str) -> Result<i64, &'static str> {
    text.parse().map_err(|_| "give the token's number, such as 3: `gangline token list` shows them")
}
