//! `godel tenant`: organisations that see nothing of each other.

use godel_api::{Client, NewTenant, Page, Tenant, TenantInvitation, TenantPatch};
use godel_args::access::Tenant as Asked;
use godel_console::{Context, Exit, Result, locate};
use godel_model::{Clock as _, Invalid, SystemClock, TenantName, code};
use reqwest::Method;
use serde_json::json;

use super::user::link_ends;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Create { name } => create(context, name).await,
        Asked::List => list(context).await,
        Asked::Disable { name } => change(context, &name, true).await,
        Asked::Enable { name } => change(context, &name, false).await,
    }
}

async fn create(context: &Context, name: String) -> Result<Exit> {
    name.parse::<TenantName>()?;
    let found = locate::server(context).await?;
    let new = NewTenant { name };
    let made = found.client.call(Method::POST, "/api/v1/tenants", Some(&new)).await?;
    let TenantInvitation { tenant, link_path } = made;
    let link = format!("{}{link_path}", found.client.url());
    let until = link_ends(SystemClock.now());
    if context.output.is_json() {
        context.output.value(&json!({ "tenant": tenant, "link": link, "expiresAt": until }))?;
        return Ok(Exit::Done);
    }
    context.output.note(format_args!(
        "tenant {} is there; the link opens its owner's account once, until {until:.0}:",
        tenant.name
    ));
    context.output.line(link)?;
    Ok(Exit::Done)
}

async fn tenants(client: &Client) -> Result<Vec<Tenant>> {
    let page: Page<Tenant> = client.page("/api/v1/tenants", &[]).await?;
    Ok(page.items)
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let tenants = tenants(&found.client).await?;
    if context.output.is_json() {
        context.output.value(&json!({ "items": tenants }))?;
        return Ok(Exit::Done);
    }
    let rows = tenants.into_iter().map(|tenant| {
        let state = tenant.disabled_at.map_or("open".to_owned(), |at| format!("closed {at:.0}"));
        [tenant.name, state, format!("{:.0}", tenant.created_at), tenant.id.to_string()]
    });
    context.output.table(["NAME", "STATUS", "MADE", "ID"], rows.collect())?;
    Ok(Exit::Done)
}

async fn change(context: &Context, given: &str, disabled: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let is_meant = |tenant: &Tenant| tenant.name == given || tenant.id.to_string() == given;
    let tenant = tenants(&found.client).await?.into_iter().find(is_meant).ok_or_else(|| {
        Invalid::new(code::TENANT_NOT_FOUND, format!("there is no tenant \"{given}\""))
            .with_hint("`godel tenant list` shows all tenants")
    })?;
    let path = format!("/api/v1/tenants/{}", tenant.id);
    let patch = TenantPatch { disabled };
    let tenant: Tenant = found.client.call(Method::PATCH, &path, Some(&patch)).await?;
    if context.output.is_json() {
        context.output.value(&tenant)?;
    } else {
        let state = if disabled { "closed for all its users" } else { "open" };
        context.output.line(format_args!("tenant {} is {state}", tenant.name))?;
    }
    Ok(Exit::Done)
}
