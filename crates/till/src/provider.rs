//! `godel provider`: who answers for models.

use godel_api::{ProviderStates, ProviderTests, RoutedModel, Routing};
use godel_args::models::Provider as Asked;
use godel_console::lookup::NOTHING;
use godel_console::measure::{millis, number};
use godel_console::{Context, Exit, Result, locate};
use reqwest::Method;
use serde_json::json;

use crate::usage::quota;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: &Asked) -> Result<Exit> {
    match asked {
        Asked::List => list(context).await,
        Asked::Routing => routing(context).await,
        Asked::Test { name } => test(context, name.as_deref()).await,
    }
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let states: ProviderStates =
        found.client.call(Method::GET, "/proxy/v1/providers", NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&states)?;
        return Ok(Exit::Done);
    }
    let rows = states.items.iter().cloned().map(|one| {
        let first_byte = one.first_byte_ms.map_or("-".to_owned(), millis);
        let error = one.last_error.unwrap_or_default();
        [one.provider, one.state, first_byte, number(one.worked), number(one.failed), error]
    });
    let header = ["PROVIDER", "STATE", "FIRST BYTE", "WORKED", "FAILED", "LAST ERROR"];
    let quotas = states.items.iter().any(|one| !one.quotas.is_empty());
    context.output.listing(header, rows.collect())?;
    if quotas {
        quota::print(context, &found.client).await?;
    }
    Ok(Exit::Done)
}

async fn routing(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let told: Routing = found.client.call(Method::GET, "/proxy/v1/routing", NOTHING).await?;
    if context.output.is_json() {
        context.output.value(&told)?;
        return Ok(Exit::Done);
    }
    let line = |what: &str, text: String| context.output.line(format_args!("{what:<11} {text}"));
    let chosen = match told.prefer.as_str() {
        "cost" => "the cheapest first",
        "latency" => "the quickest first",
        _ => "in this order",
    };
    line("providers", format!("{} ({chosen})", told.order.join(", ")))?;
    let (tries, first, idle) = (told.attempts, told.first_byte_seconds, told.idle_seconds);
    line("patience", format!("{tries} tries, {first} s to the first byte, {idle} s of silence"))?;
    let kept = told.cache_seconds.map(|secs| format!("answers are kept for {secs} s if asked for"));
    line("cache", kept.unwrap_or_else(|| "off".to_owned()))?;
    let named = |all: &[RoutedModel], what: &str| {
        all.iter()
            .try_for_each(|one| line(what, format!("{} -> {}", one.name, one.models.join(", "))))
    };
    named(&told.aliases, "alias")?;
    named(&told.fallbacks, "fallback")?;
    for one in &told.hedges {
        let after = one.after_ms;
        line("hedge", format!("{}: a second provider is asked after {after} ms", one.model))?;
    }
    Ok(Exit::Done)
}

async fn test(context: &Context, name: Option<&str>) -> Result<Exit> {
    let found = locate::server(context).await?;
    let wanted = name.map_or_else(|| json!({}), |name| json!({ "provider": name }));
    let path = "/proxy/v1/providers/test";
    let tests: ProviderTests = found.client.call(Method::POST, path, Some(&wanted)).await?;
    let exit = if tests.items.iter().all(|one| one.works) { Exit::Done } else { Exit::Failure };
    if context.output.is_json() {
        context.output.value(&tests)?;
        return Ok(exit);
    }
    if tests.items.is_empty() {
        context.output.line("no provider has a key: set one with `godel secret set anthropic`")?;
        return Ok(exit);
    }
    for one in &tests.items {
        let several = tests.items.iter().filter(|other| other.provider == one.provider).count() > 1;
        let which = if several { format!(" (key {})", one.key) } else { String::new() };
        let told = match (&one.problem, one.models) {
            (Some(problem), _) => problem.clone(),
            (None, models) => {
                let models = number(models.unwrap_or(0));
                let took = one.took_ms.map_or("-".to_owned(), millis);
                format!("works: {models} models, answered in {took}")
            }
        };
        context.output.line(format_args!("{}{which}: {told}", one.provider))?;
        if let Some(remedy) = &one.remedy {
            context.output.line(format_args!("  to do: {remedy}"))?;
        }
    }
    Ok(exit)
}
