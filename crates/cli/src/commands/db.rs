//! `godel db`: look after the database.

use std::path::Path;

use godel_app::integrity;
use godel_args::DatabaseFlag;
use godel_console::locate::{Presence, presence};
use godel_console::{Context, Error, Exit, Result};
use godel_store::{Config, DatabaseUrl, SchemaStatus, Scope, Store, known_migrations, soundness};
use serde_json::json;

/// Prints the version of the schema.
pub(crate) async fn status(context: &Context, database: &DatabaseFlag) -> Result<Exit> {
    let config = context.settings(database.flags())?.store()?;
    let schema = Store::schema(&config).await?;
    if context.output.is_json() {
        context.output.value(&answer(&config, schema))?;
        return Ok(Exit::Done);
    }
    context.output.pairs(vec![
        ["database".to_owned(), config.url.shown()],
        ["schema".to_owned(), format!("version {}", schema.found)],
        ["this godel".to_owned(), format!("version {}", schema.known)],
    ])?;
    context.output.line(format_args!("\n{}", verdict(schema)))?;
    Ok(Exit::Done)
}

fn answer(config: &Config, schema: SchemaStatus) -> serde_json::Value {
    json!({
        "database": config.url.shown(),
        "engine": config.url.engine(),
        "found": schema.found,
        "known": schema.known,
    })
}

/// Says what a schema version means for this program.
pub(super) fn verdict(schema: SchemaStatus) -> String {
    match schema {
        SchemaStatus { found: 0, .. } => "empty: the next `godel up` sets it up".to_owned(),
        SchemaStatus { found, known } if found == known => "up to date".to_owned(),
        SchemaStatus { found, known } if found < known => {
            format!("version {found} is older: the next `godel up` brings it to {known}")
        }
        SchemaStatus { found, known } => {
            format!("version {found} was written by a newer godel: this one knows {known}")
        }
    }
}

/// Brings the schema to a version.
pub(crate) async fn migrate(
    context: &Context,
    database: &DatabaseFlag,
    to: i64,
    yes: bool,
) -> Result<Exit> {
    let config = context.settings(database.flags())?.store()?;
    let before = Store::schema(&config).await?;
    if !(0..=before.known).contains(&to) {
        return Err(Error::usage(
            format!("there is no schema version {to}"),
            format!("this godel knows 0 to {}", before.known),
        ));
    }
    if to < before.found && !yes {
        return Err(Error::usage(
            format!(
                "going back from version {} to {to} drops {}, with all data in it",
                before.found,
                dropped(before.found, to)
            ),
            "make a backup with `godel backup FILE`, then add --yes",
        ));
    }
    refuse_running(context).await?;
    if let DatabaseUrl::Sqlite(path) = &config.url {
        let directory = path.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(directory)
            .map_err(|cause| Error::file(&directory.display(), "made", cause))?;
    }
    let after = Store::migrate(&config, to).await?;
    if context.output.is_json() {
        context.output.value(&answer(&config, after))?;
    } else if before.found == after.found {
        context.output.line(format_args!("the schema has version {to} already"))?;
    } else {
        context
            .output
            .line(format_args!("the schema went from version {} to {to}", before.found))?;
    }
    Ok(Exit::Done)
}

/// PostgreSQL has no lock file, so the server of the data directory is looked for.
async fn refuse_running(context: &Context) -> Result<()> {
    match presence(&context.data).await? {
        Presence::Running(found, _) => {
            let (dir, holder) = (context.data.clone(), format!("pid {}", found.pid));
            Err(godel_store::Error::Locked { dir, holder }.into())
        }
        Presence::Absent | Presence::LeftOver(..) => Ok(()),
    }
}

/// Names what going back takes away.
fn dropped(from: i64, to: i64) -> String {
    let gone = known_migrations().iter().filter(|one| one.version > to && one.version <= from);
    let names: Vec<String> =
        gone.map(|one| format!("what version {} ({}) brought", one.version, one.name)).collect();
    names.join(" and ")
}

/// Checks that the file is sound and that the log adds up to the tables.
pub(crate) async fn check(context: &Context, database: &DatabaseFlag) -> Result<Exit> {
    let config = context.settings(database.flags())?.store()?;
    let schema = Store::schema(&config).await?;
    if schema.found != schema.known {
        return Err(Error::usage(
            format!("there is nothing to check: {}", verdict(schema)),
            "`godel db migrate` changes the version of the schema",
        ));
    }
    let store = Store::open(&config).await?;
    let result = checked(context, &config, &store).await;
    store.close().await;
    result
}

async fn checked(context: &Context, config: &Config, store: &Store) -> Result<Exit> {
    if let DatabaseUrl::Sqlite(path) = &config.url {
        soundness(path, true)?;
    }
    let statements = store.check_statements().await?;
    let tenants = store.read(Scope::System, |tx| tx.tenants().list()).await;
    let tenants = tenants.map_err(|error: godel_store::Error| error)?;
    let mut rows = Vec::new();
    for tenant in tenants {
        context.output.remark(format_args!("checking tenant {}", tenant.name));
        let folded = integrity::check(store, tenant.id).await?;
        rows.push((tenant.name.to_string(), folded));
    }
    if context.output.is_json() {
        let tenants: Vec<_> =
            rows.iter().map(|(name, folded)| json!({ "name": name, "events": folded })).collect();
        let answer = json!({ "ok": true, "statements": statements, "tenants": tenants });
        context.output.value(&answer)?;
    } else {
        let rows =
            rows.into_iter().map(|(name, folded)| [name, folded.to_string(), "adds up".to_owned()]);
        context.output.table(["TENANT", "EVENTS", "TABLES"], rows.collect())?;
    }
    Ok(Exit::Done)
}
