//! `godel provider`: who answers for models.

use godel_api::ProviderStates;
use godel_args::models::Provider as Asked;
use reqwest::Method;

use super::lookup::NOTHING;
use crate::context::Context;
use crate::error::Result;
use crate::exit::Exit;
use crate::locate;
use crate::measure::{millis, number};

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: &Asked) -> Result<Exit> {
    match asked {
        Asked::List => list(context).await,
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
    let rows = states.items.into_iter().map(|one| {
        let first_byte = one.first_byte_ms.map_or("-".to_owned(), millis);
        let error = one.last_error.unwrap_or_default();
        [one.provider, one.state, first_byte, number(one.worked), number(one.failed), error]
    });
    let header = ["PROVIDER", "STATE", "FIRST BYTE", "WORKED", "FAILED", "LAST ERROR"];
    context.output.listing(header, rows.collect())?;
    Ok(Exit::Done)
}
