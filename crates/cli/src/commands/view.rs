//! `godel view`: what people look at again and again.

use godel_api::{Client, SaveView, View, ViewList};
use godel_args::view::View as Asked;
use godel_console::lookup::{NOTHING, segment};
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result, locate};
use godel_model::{Clock as _, Invalid, SystemClock, code};
use reqwest::Method;

const PATH: &str = "/api/v1/views";
/// The page whose queries can be typed here.
const PAGE: &str = "beads";

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::List => list(context).await,
        Asked::Save { name, query, shared } => save(context, name, &query, shared).await,
        Asked::Delete { name } => delete(context, &name).await,
    }
}

async fn views(client: &Client) -> Result<Vec<View>> {
    let list: ViewList = client.call(Method::GET, PATH, NOTHING).await?;
    Ok(list.items)
}

/// Returns what a view looks for, as a person would type it.
fn sought(view: &View) -> String {
    let Ok(address) = reqwest::Url::parse(&format!("http://here/?{}", view.query)) else {
        return view.query.clone();
    };
    let parts = address.query_pairs().map(|(name, value)| match &*name {
        "q" => value.into_owned(),
        name => format!("({name} {value})"),
    });
    parts.collect::<Vec<_>>().join(" ")
}

async fn list(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let items = views(&found.client).await?;
    if context.output.is_json() {
        context.output.value(&ViewList { items })?;
        return Ok(Exit::Done);
    }
    if items.is_empty() {
        context.output.remark("there are no views: `godel view save NAME QUERY` keeps one");
    }
    let rows = items.into_iter().map(|view| {
        let whose = match (view.is_own, view.shared) {
            (true, false) => "yours",
            (true, true) => "yours, shared",
            (false, _) => "shared",
        };
        [view.page.clone(), plain(&view.name), whose.to_owned(), plain(&sought(&view))]
    });
    context.output.listing(["PAGE", "NAME", "WHOSE", "SHOWS"], rows.collect())?;
    Ok(Exit::Done)
}

async fn save(context: &Context, name: String, query: &str, shared: bool) -> Result<Exit> {
    let found = locate::server(context).await?;
    let client = &found.client;
    // What is refused here would be refused in the dashboard, where nobody sees why.
    let asker = godel_beads::Asker { name: "me", now: SystemClock.now() };
    godel_beads::Query::read(query, asker)?;
    let same = name.trim().to_lowercase();
    let own = |view: &&View| view.is_own && view.page == PAGE && view.name.to_lowercase() == same;
    let before = views(client).await?.iter().find(own).map(|view| view.id);
    let query = format!("q={}", segment(query));
    let wanted = SaveView { page: PAGE.to_owned(), name, query, shared };
    let saved: View = match before {
        Some(id) => client.call(Method::PUT, &format!("{PATH}/{id}"), Some(&wanted)).await?,
        None => client.call(Method::POST, PATH, Some(&wanted)).await?,
    };
    if context.output.is_json() {
        context.output.value(&saved)?;
        return Ok(Exit::Done);
    }
    let who = if saved.shared { "everybody has" } else { "you have" };
    let (name, sought) = (plain(&saved.name), plain(&sought(&saved)));
    context.output.line(format_args!("{who} the view \"{name}\" now: {sought}"))?;
    Ok(Exit::Done)
}

async fn delete(context: &Context, given: &str) -> Result<Exit> {
    let found = locate::server(context).await?;
    let all = views(&found.client).await?;
    let same = given.trim().to_lowercase();
    let is = |view: &&View| {
        view.id.to_string() == given || (view.is_own && view.name.to_lowercase() == same)
    };
    let named: Vec<&View> = all.iter().filter(is).collect();
    let [view] = named[..] else {
        let why = if named.is_empty() {
            format!("you have no view \"{given}\"")
        } else {
            format!("you have {} views \"{given}\", on different pages", named.len())
        };
        let hint = "`godel view list --json` shows their ids";
        return Err(Error::from(Invalid::new(code::VIEW_NOT_FOUND, why).with_hint(hint)));
    };
    let path = format!("{PATH}/{}", view.id);
    found.client.act(Method::DELETE, &path, NOTHING).await?;
    if context.output.is_json() {
        context.output.value(view)?;
    } else {
        context.output.line(format_args!("the view \"{}\" is gone", plain(&view.name)))?;
    }
    Ok(Exit::Done)
}
