//! `godel token`: tokens by which agents ask models.

use godel_api::{AgentToken, AgentTokenMade, Client, NewAgentToken};
use godel_args::models::{NewToken, Token as Asked};
use godel_console::lookup::{self, NOTHING};
use godel_console::measure::money;
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{Clock as _, Invalid, SystemClock, TokenId, code};
use jiff::Timestamp;
use reqwest::Method;
use serde_json::json;

use crate::names::Names;

const PATH: &str = "/api/v1/agent-tokens";
/// How many tokens are named when a name is not enough.
const NAMED_MAX: usize = 10;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Create(new) => create(context, new).await,
        Asked::List { all } => list(context, all).await,
        Asked::Revoke { token } => revoke(context, &token).await,
    }
}

async fn create(context: &Context, asked: NewToken) -> Result<Exit> {
    let NewToken { name, project, agent, bead, convoy, models, budget, expires } = asked;
    let found = locate::server(context).await?;
    let project = match project {
        Some(project) => Some(lookup::project(&found.client, &project).await?),
        None => None,
    };
    let new = NewAgentToken {
        name,
        project_id: project.as_ref().map(|project| project.id),
        agent,
        bead,
        convoy,
        models: models.map(|models| models.0).unwrap_or_default(),
        budget_micros: budget,
        expires_at: expires.and_then(|span| SystemClock.now().checked_add(span).ok()),
    };
    let made: AgentTokenMade = found.client.call(Method::POST, PATH, Some(&new)).await?;
    let base = format!("{}/proxy", found.client.url());
    if context.output.is_json() {
        let mut answer = json!(made);
        answer["baseUrl"] = json!(base);
        context.output.value(&answer)?;
        return Ok(Exit::Done);
    }
    let AgentTokenMade { info, token } = made;
    let project = project.map(|project| project.name);
    context.output.note(described(&info, project, budget));
    context.output.note("it is shown now and never again:");
    context.output.line(token.unwrap_or_default())?;
    context.output.note(usage(&base));
    Ok(Exit::Done)
}

/// Says what a token is, in a line.
fn described(token: &AgentToken, project: Option<String>, budget: Option<i64>) -> String {
    let until = token.expires_at.map_or("without an end".to_owned(), |at| format!("until {at:.0}"));
    let purpose = purpose(token, project);
    let purpose = if purpose.is_empty() { purpose } else { format!(", for {purpose}") };
    let budget = budget.map_or_else(String::new, |cap| format!(", at most {}", money(cap)));
    let models = match token.models.is_empty() {
        true => String::new(),
        false => format!(", only {}", token.models.join(", ")),
    };
    format!("token \"{}\" {until}{purpose}{budget}{models}; id {}", token.name, token.id)
}

/// Names what a token is for.
fn purpose(token: &AgentToken, project: Option<String>) -> String {
    let parts = [
        ("project", project),
        ("agent", token.agent.clone()),
        ("bead", token.bead.clone()),
        ("convoy", token.convoy.clone()),
    ];
    let parts = parts.into_iter().filter_map(|(kind, name)| Some(format!("{kind} {}", name?)));
    parts.collect::<Vec<_>>().join(", ")
}

/// Tells how to use a token.
fn usage(base: &str) -> String {
    format!(
        "
how to use it, with the token in GODEL_TOKEN:
  claude, Anthropic SDKs
    export ANTHROPIC_BASE_URL={base} ANTHROPIC_AUTH_TOKEN=$GODEL_TOKEN
  OpenAI SDKs
    export OPENAI_BASE_URL={base}/v1 OPENAI_API_KEY=$GODEL_TOKEN
  codex
    export CODEX_API_KEY=$GODEL_TOKEN; codex -c openai_base_url={base}/v1
  gemini, Google SDKs
    export GOOGLE_GEMINI_BASE_URL={base} GEMINI_API_KEY=$GODEL_TOKEN
a provider needs a key: `godel secret set anthropic`, or openai, google and so on"
    )
}

fn is_live(token: &AgentToken, now: Timestamp) -> bool {
    token.revoked_at.is_none() && token.expires_at.is_none_or(|at| at > now)
}

/// Says whether a token works.
fn state(token: &AgentToken, now: Timestamp) -> String {
    match (token.revoked_at, token.expires_at) {
        (Some(_), _) => "revoked".to_owned(),
        (None, Some(at)) if at <= now => "ended".to_owned(),
        (None, Some(at)) => format!("until {at:.0}"),
        (None, None) => "active".to_owned(),
    }
}

async fn list(context: &Context, all: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let mut tokens: Vec<AgentToken> = lookup::all(context, &found.client, PATH, None).await?;
    let (now, before) = (SystemClock.now(), tokens.len());
    tokens.retain(|token| all || is_live(token, now));
    if context.output.is_json() {
        context.output.value(&json!({ "items": tokens }))?;
        return Ok(Exit::Done);
    }
    let any = tokens.iter().any(|token| token.project_id.is_some());
    let names = Names::load(context, &found.client, any, !tokens.is_empty()).await?;
    let rows = tokens.iter().map(|token| {
        let purpose = purpose(token, names.maybe(token.project_id));
        let models =
            if token.models.is_empty() { "all".to_owned() } else { token.models.join(",") };
        let user = names.of(&token.user_id.to_string());
        let id = token.id.to_string();
        [token.name.clone(), token.prefix.clone(), state(token, now), user, purpose, models, id]
    });
    let header = ["NAME", "BEGINS WITH", "STATUS", "USER", "FOR", "MODELS", "ID"];
    context.output.table(header, rows.collect())?;
    if tokens.len() < before {
        let ended = before - tokens.len();
        context.output.remark(format_args!("{ended} more have ended: --all lists them too"));
    }
    Ok(Exit::Done)
}

async fn revoke(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let (id, name) = match given.parse::<TokenId>() {
        Ok(id) => (id.uuid(), id.to_string()),
        Err(_) => {
            let token = find(context, &found.client, given).await?;
            (token.id, format!("\"{}\" ({}..)", token.name, token.prefix))
        }
    };
    found.client.act(Method::DELETE, &format!("{PATH}/{id}"), NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "revoked": id }))?;
    } else {
        context.output.line(format_args!("token {name} works no more"))?;
    }
    Ok(Exit::Done)
}

/// Returns all tokens that work, and that the caller may see.
pub(crate) async fn live(context: &Context, client: &Client) -> Result<Vec<AgentToken>> {
    let mut tokens: Vec<AgentToken> = lookup::all(context, client, PATH, None).await?;
    let now = SystemClock.now();
    tokens.retain(|token| is_live(token, now));
    Ok(tokens)
}

/// Finds a token that works by its beginning or its name.
pub(crate) async fn find(context: &Context, client: &Client, given: &str) -> Result<AgentToken> {
    pick(live(context, client).await?, given)
}

/// Picks the one token that is meant.
fn pick(tokens: Vec<AgentToken>, given: &str) -> Result<AgentToken> {
    // A whole token on a command line is seen by others; its beginning is enough.
    let is_meant = |token: &AgentToken| token.name == given || token.prefix == given;
    let mut meant: Vec<AgentToken> = tokens.into_iter().filter(is_meant).collect();
    if meant.len() > 1 {
        let line = |token: &AgentToken| format!("{}  {}..  {}", token.id, token.prefix, token.name);
        let lines: Vec<String> = meant.iter().take(NAMED_MAX).map(line).collect();
        return Err(Error::usage(
            format!("\"{given}\" stands for {} tokens", meant.len()),
            format!("name one of them by its id:\n{}", lines.join("\n")),
        ));
    }
    meant.pop().ok_or_else(|| {
        Invalid::new(code::TOKEN_NOT_FOUND, format!("no token that works is called \"{given}\""))
            .with_hint("`godel token list` shows those that work")
            .into()
    })
}

#[cfg(test)]
mod tests {
    use godel_model::Report as _;

    use super::*;

    fn token(number: u8, name: &str, prefix: &str) -> AgentToken {
        let id = format!("00000000-0000-7000-8000-0000000000{number:02}");
        let text = json!({ "id": id, "userId": id, "name": name, "prefix": prefix, "models": [],
            "agent": "a1", "createdAt": "2025-01-01T00:00:00Z", "expiresAt": "2026-01-01T00:00:00Z" });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn a_name_must_stand_for_one_token() {
        let tokens = || {
            let two = |number, prefix| token(number, "two", prefix);
            vec![token(1, "ci", "godel_at_bb"), two(2, "godel_at_cc"), two(3, "godel_at_dd")]
        };
        assert_eq!(pick(tokens(), "ci").unwrap().prefix, "godel_at_bb");
        assert_eq!(pick(tokens(), "godel_at_cc").unwrap().name, "two");
        let error = pick(tokens(), "two").unwrap_err();
        assert_eq!(error.code(), code::INVALID_REQUEST);
        assert!(error.hint().unwrap().contains("godel_at_dd"));
        for unknown in ["three", "godel_at_", ""] {
            assert_eq!(pick(tokens(), unknown).unwrap_err().code(), code::TOKEN_NOT_FOUND);
        }
    }

    #[test]
    fn a_token_works_until_its_end() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let mut one = token(1, "ci", "godel_at_aa");
        assert!(is_live(&one, at("2025-12-31T23:59:59Z")));
        assert!(!is_live(&one, at("2026-01-01T00:00:00Z")));
        assert_eq!(state(&one, at("2026-01-01T00:00:00Z")), "ended");
        one.revoked_at = Some(at("2025-06-01T00:00:00Z"));
        assert_eq!(state(&one, at("2025-12-31T23:59:59Z")), "revoked");
    }

    #[test]
    fn a_token_is_described_in_a_line() {
        let one = token(1, "ci", "godel_at_aa");
        assert_eq!(
            described(&one, Some("web".to_owned()), Some(500_000)),
            "token \"ci\" until 2026-01-01T00:00:00Z, for project web, agent a1, at most $0.50; id \
             00000000-0000-7000-8000-000000000001"
        );
    }
}
