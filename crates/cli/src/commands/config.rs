//! `godel config`: the settings in effect.

use godel_args::SettingFlags;
use godel_console::{Context, Exit, Result};
use godel_settings::{Loaded, Settings};
use serde_json::{Map, Value, json};

/// One setting as it is in effect.
struct Shown {
    name: &'static str,
    value: Value,
    origin: String,
}

/// Prints every setting, and where it comes from.
pub(crate) fn show(context: &Context, origin: bool, flags: &SettingFlags) -> Result<Exit> {
    let loaded = context.settings(flags.flags())?;
    loaded.server()?;
    let all = rows(context, &loaded)?;
    if context.output.is_json() {
        let entry = |row: Shown| {
            let value = if origin {
                json!({ "value": row.value, "origin": row.origin })
            } else {
                row.value
            };
            (row.name.to_owned(), value)
        };
        context.output.value(&all.into_iter().map(entry).collect::<Map<_, _>>())?;
    } else if origin {
        let rows = all.into_iter().map(|row| [row.name.to_owned(), text(&row.value), row.origin]);
        context.output.table(["SETTING", "VALUE", "ORIGIN"], rows.collect())?;
    } else {
        let rows = all.into_iter().map(|row| [row.name.to_owned(), text(&row.value)]);
        context.output.table(["SETTING", "VALUE"], rows.collect())?;
    }
    Ok(Exit::Done)
}

fn rows(context: &Context, loaded: &Loaded) -> Result<Vec<Shown>> {
    let data =
        Shown { name: "data", value: json!(context.data), origin: context.data_origin.clone() };
    let keys = Settings::keys();
    let rest = keys.iter().map(|key| {
        let origin = loaded.origin(key.name).to_string();
        Ok(Shown { name: key.name, value: loaded.shown(key.name)?, origin })
    });
    std::iter::once(Ok(data)).chain(rest).collect()
}

fn text(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
