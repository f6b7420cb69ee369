//! `godel convoy`: beads that belong together.

mod state;

use godel_args::convoy::What;
use godel_beads::Convoy;
use godel_beads::ops::{self, ConvoyChanges, NewConvoy};
use godel_console::output::plain;
use godel_console::{Error, Exit, Result};
use serde_json::json;

use crate::desk::Desk;

/// Does what was asked for.
pub(crate) fn run(desk: &Desk, asked: What) -> Result<Exit> {
    match asked {
        What::Create { name, beads, description } => create(desk, name, beads, description),
        What::List { all } => list(desk, all),
        What::Add { convoy, beads } => {
            let count = beads.len();
            change(desk, &format!("{count} added"), move |draft| {
                ops::add_to_convoy(draft, &convoy, &beads)
            })
        }
        What::Remove { convoy, beads } => {
            let count = beads.len();
            change(desk, &format!("{count} removed"), move |draft| {
                ops::remove_from_convoy(draft, &convoy, &beads)
            })
        }
        What::Update { convoy, name, description } => {
            let changes = ConvoyChanges { name, description, ..ConvoyChanges::default() };
            change(desk, "updated", move |draft| ops::update_convoy(draft, &convoy, &changes))
        }
        What::Archive { convoy, undo: false } => {
            change(desk, "archived", move |draft| ops::archive_convoy(draft, &convoy))
        }
        What::Archive { convoy, undo: true } => {
            let changes = ConvoyChanges { archived: Some(false), ..ConvoyChanges::default() };
            change(desk, "no longer archived", move |draft| {
                ops::update_convoy(draft, &convoy, &changes)
            })
        }
        What::Delete { convoy, yes } => delete(desk, &convoy, yes),
        What::Driven(_) => {
            // It is asked of a server before it comes here.
            Err(Error::usage("agents are started by a server", "start it with `godel up`"))
        }
        What::Status { convoy } => state::status(desk, &convoy),
        What::Waves { convoy } => state::waves(desk, &convoy),
    }
}

fn create(
    desk: &Desk,
    name: String,
    beads: Vec<String>,
    description: Option<String>,
) -> Result<Exit> {
    let new = NewConvoy { name, description, beads, id: None };
    let mut shelf = desk.shelf()?;
    let convoy = desk.write(&mut shelf, move |draft| ops::create_convoy(draft, &new))?;
    if desk.output.is_json() {
        desk.output.value(&convoy)?;
    } else {
        desk.output.line(format_args!("Created convoy {}", convoy.id))?;
    }
    Ok(Exit::Done)
}

fn change(
    desk: &Desk,
    what: &str,
    work: impl Fn(&mut godel_beads::Draft<'_>) -> godel_beads::Result<Convoy> + Send + 'static,
) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let convoy = desk.write(&mut shelf, work)?;
    if desk.output.is_json() {
        desk.output.value(&convoy)?;
    } else {
        let (id, count) = (&convoy.id, convoy.beads.len());
        desk.output
            .line(format_args!("{id}: {what}; it has {count} beads and is {}", convoy.status))?;
    }
    Ok(Exit::Done)
}

fn list(desk: &Desk, all: bool) -> Result<Exit> {
    let mut convoys = desk.shelf()?.convoys()?;
    convoys.retain(|convoy| all || convoy.status != "archived");
    if desk.output.is_json() {
        desk.output.value(&json!({ "items": convoys }))?;
        return Ok(Exit::Done);
    }
    if convoys.is_empty() {
        desk.output.remark("there are no convoys; `godel convoy create NAME BEAD...` makes one");
        return Ok(Exit::Done);
    }
    let row = |convoy: Convoy| {
        let beads = convoy.beads.len().to_string();
        [convoy.id, convoy.status, beads, convoy.name]
    };
    let rows = convoys.into_iter().map(row).collect();
    desk.output.listing(["ID", "STATUS", "BEADS", "NAME"], rows)?;
    Ok(Exit::Done)
}

fn delete(desk: &Desk, name: &str, yes: bool) -> Result<Exit> {
    let mut shelf = desk.shelf()?;
    let convoy = Convoy::of(&shelf.convoy(name)?);
    if !yes {
        let message = format!("deleting {} ({}) cannot be undone", convoy.id, plain(&convoy.name));
        return Err(Error::usage(message, "its beads stay; add --yes if that is what you want"));
    }
    let id = convoy.id.clone();
    desk.write(&mut shelf, move |draft| ops::delete_convoy(draft, &id, None))?;
    if desk.output.is_json() {
        desk.output.value(&json!({ "deleted": convoy.id }))?;
    } else {
        desk.output.line(format_args!("Deleted convoy {}; its beads stay", convoy.id))?;
    }
    Ok(Exit::Done)
}
