//! `godel settings`: settings as one document, out and in again.

use std::io::Read as _;
use std::path::Path;

use godel_api::{ImportSettings, SettingsChange, SettingsChanges, SettingsDocument};
use godel_args::portable::Portable as Asked;
use godel_console::lookup::NOTHING;
use godel_console::output::plain;
use godel_console::{Context, Error, Exit, Result, locate};
use reqwest::Method;

const PATH: &str = "/api/v1/settings";
/// The largest document that is read; the server takes no more anyway.
const READ_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Does what was asked for.
pub(crate) async fn run(context: &Context, asked: Asked) -> Result<Exit> {
    match asked {
        Asked::Export => export(context).await,
        Asked::Import { file, yes } => import(context, &file, yes).await,
    }
}

async fn export(context: &Context) -> Result<Exit> {
    let found = locate::server(context).await?;
    let document: SettingsDocument = found.client.call(Method::GET, PATH, NOTHING).await?;
    // It is a document with and without --json: it goes into a file.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    context.output.line(text)?;
    Ok(Exit::Done)
}

fn read(file: &Path) -> Result<SettingsDocument> {
    let fail = |cause| Error::file(&file.display(), "read", cause);
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(fail)?;
    opened.take(READ_MAX_BYTES).read_to_string(&mut text).map_err(fail)?;
    serde_json::from_str(&text).map_err(|error| {
        let why = format!("{} is no document of settings: {error}", file.display());
        Error::usage(why, "`godel settings export` writes one")
    })
}

async fn import(context: &Context, file: &Path, yes: bool) -> Result<Exit> {
    let settings = read(file)?;
    let found = locate::server(context).await?;
    let body = ImportSettings { settings, dry_run: !yes };
    let path = format!("{PATH}/import");
    let told: SettingsChanges = found.client.call(Method::POST, &path, Some(&body)).await?;
    if context.output.is_json() {
        context.output.value(&told)?;
        return Ok(Exit::Done);
    }
    if told.changes.is_empty() {
        context.output.line("nothing is different")?;
        return Ok(Exit::Done);
    }
    let rows = told.changes.iter().flat_map(rows).collect();
    context.output.listing(["WHAT", "NAME", "FIELD", "BEFORE", "AFTER"], rows)?;
    match told.applied {
        true => context.output.remark("these changes are made"),
        false => context.output.remark("nothing is changed yet: add --yes to make these changes"),
    }
    Ok(Exit::Done)
}

fn rows(change: &SettingsChange) -> Vec<[String; 5]> {
    let kind = if change.is_new { format!("new {}", change.kind) } else { change.kind.clone() };
    let value = |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), plain);
    let row = |field: &str, before, after| {
        [kind.clone(), plain(&change.name), field.to_owned(), before, after]
    };
    if change.fields.is_empty() {
        return vec![row("-", "-".to_owned(), "-".to_owned())];
    }
    let fields = change.fields.iter();
    fields.map(|field| row(&field.name, value(&field.before), value(&field.after))).collect()
}

#[cfg(test)]
mod tests {
    use godel_api::SettingsField;

    use super::*;

    #[test]
    fn a_change_has_a_row_for_each_field() {
        let field = |name: &str, before: Option<&str>, after: Option<&str>| SettingsField {
            name: name.to_owned(),
            before: before.map(ToOwned::to_owned),
            after: after.map(ToOwned::to_owned),
        };
        let mut change = SettingsChange {
            kind: "project".to_owned(),
            name: "web".to_owned(),
            is_new: false,
            fields: vec![field("maxAgents", Some("3"), None), field("models", None, Some("a*"))],
        };
        assert_eq!(
            rows(&change),
            [["project", "web", "maxAgents", "3", "-"], ["project", "web", "models", "-", "a*"]]
        );
        (change.is_new, change.fields) = (true, Vec::new());
        assert_eq!(rows(&change), [["new project", "web", "-", "-", "-"]]);
    }

    #[test]
    fn what_is_no_document_is_refused_before_anybody_is_asked() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("settings.json");
        std::fs::write(&file, "{\"format\":\"godel-settings/1\",\"secrets\":[]}").unwrap();
        assert!(read(&file).unwrap_err().to_string().contains("no document of settings"));
        std::fs::write(&file, "{\"format\":\"godel-settings/1\"}").unwrap();
        assert_eq!(read(&file).unwrap().projects, []);
        assert!(read(&folder.path().join("none")).is_err());
    }
}
