//! Where settings come from: default < file < environment < flag.

use std::path::{Path, PathBuf};
use std::{fmt, io};

use figment::error::{Error as Refused, Kind};
use figment::providers::{Format as _, Serialized, Toml};
use figment::value::{Dict, Map, Value};
use figment::{Figment, Metadata, Profile, Provider, Source};
use godel_args::Flag;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::nearest::nearest;
use crate::settings::{Key, Settings};

/// The name of the configuration file in the data directory.
const CONFIG_FILE: &str = "godel.toml";

/// Where settings may come from.
#[derive(Debug)]
pub struct Sources<'a> {
    /// The data directory, whose configuration file is used if there is one.
    pub data: &'a Path,
    /// Another configuration file, which must be there.
    pub file: Option<&'a Path>,
    /// The environment.
    pub environment: &'a Environment,
    /// Flags.
    pub flags: Vec<Flag<'a>>,
}

/// Where the value of one setting comes from; later ones win.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Nobody set it.
    Default,
    /// A file.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// A flag.
    Flag(String),
}

impl Origin {
    /// Returns the layer, without which file or variable it is.
    fn layer(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File(_) => 1,
            Self::Environment(_) => 2,
            Self::Flag(_) => 3,
        }
    }

    fn of(metadata: &Metadata) -> Self {
        match &metadata.source {
            Some(Source::File(path)) => Self::File(path.clone()),
            Some(Source::Custom(name)) if name.starts_with("--") => Self::Flag(name.clone()),
            Some(Source::Custom(name)) => Self::Environment(name.clone()),
            _ => Self::Default,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path) => write!(f, "file {}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// One setting that was given as text: by a variable or a flag, whose name is kept as its source.
struct Given<'a> {
    source: String,
    key: &'a Key,
    text: &'a str,
}

impl Provider for Given<'_> {
    fn metadata(&self) -> Metadata {
        Metadata::from("given as text", Source::Custom(self.source.clone()))
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Refused> {
        let number = self.text.parse::<u64>().ok().filter(|_| self.key.is_number());
        let switch = self.text.parse::<bool>().ok().filter(|_| self.key.is_switch());
        let value = match (number, switch) {
            (Some(number), _) => Value::from(number),
            (_, Some(switch)) => Value::from(switch),
            _ => Value::from(self.text),
        };
        let nested = figment::util::nest(self.key.name, value);
        Ok(Profile::Default.collect(nested.into_dict().unwrap_or_default()))
    }
}

/// The settings in effect, and where each comes from.
#[derive(Debug)]
pub struct Loaded {
    /// The settings.
    pub(crate) settings: Settings,
    /// The data directory.
    pub(crate) data: PathBuf,
    /// The configuration file that was read, if any.
    pub file: Option<PathBuf>,
    figment: Figment,
}

impl Loaded {
    /// Puts the layers on top of each other.
    pub fn load(sources: &Sources<'_>) -> Result<Self> {
        let file = config_file(sources)?;
        let mut figment = Figment::from(Serialized::defaults(Settings::default()));
        if let Some(file) = &file {
            figment = figment.merge(Toml::file_exact(file));
        }
        let keys = Settings::keys();
        for key in &keys {
            let source = key.variable();
            if let Some(text) = sources.environment.get(&source) {
                figment = figment.merge(Given { source: source.clone(), key, text });
            }
            for Flag { flag, value, .. } in sources.flags.iter().filter(|flag| flag.key == key.name)
            {
                figment = figment.merge(Given { source: (*flag).to_owned(), key, text: value });
            }
        }
        let settings = figment.extract().map_err(|error| refused(error, file.as_deref()))?;
        Ok(Self { settings, data: sources.data.to_owned(), file, figment })
    }

    /// Tells where a setting comes from.
    pub fn origin(&self, key: &str) -> Origin {
        self.figment.find_metadata(key).map_or(Origin::Default, Origin::of)
    }

    /// Tells whether the first setting comes from a later layer than the second; an error if both
    /// come from the same one.
    pub(crate) fn wins(&self, first: &str, second: &str) -> Result<bool> {
        let (one, other) = (self.origin(first), self.origin(second));
        if one.layer() == other.layer() {
            return Err(Error::config(
                format!("`{first}` and `{second}` are both set ({one}, {other})"),
                "remove one of them",
            ));
        }
        Ok(one.layer() > other.layer())
    }

    /// Returns a setting as it was given, for showing.
    pub(crate) fn value(&self, key: &str) -> Option<serde_json::Value> {
        let value = self.figment.find_value(key).ok()?;
        serde_json::to_value(value).ok().filter(|value| !value.is_null())
    }
}

/// Finds the configuration file: one that was asked for must be there.
fn config_file(sources: &Sources<'_>) -> Result<Option<PathBuf>> {
    let (path, required) = match sources.file {
        Some(path) => (path.to_owned(), true),
        None => (sources.data.join(CONFIG_FILE), false),
    };
    match std::fs::metadata(&path) {
        Ok(found) if found.is_dir() => Err(Error::config(
            format!("the configuration file {} is a directory", path.display()),
            "name a TOML file",
        )),
        Ok(_) => Ok(Some(path)),
        Err(cause) if is_absent(&cause) && !required => Ok(None),
        Err(cause) => {
            Err(Error::file(&format!("the configuration file {}", path.display()), cause))
        }
    }
}

/// Tells whether a file is not there; a directory on the way to it may be none.
fn is_absent(cause: &io::Error) -> bool {
    matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Says in one sentence what is wrong with which setting, and where it comes from.
fn refused(error: Refused, file: Option<&Path>) -> Error {
    let origin = error.metadata.as_ref().map(Origin::of);
    let path = error.path.join(".");
    let from = match origin {
        Some(Origin::Default) | None => {
            file.map(|file| format!(" (file {})", file.display())).unwrap_or_default()
        }
        Some(origin) => format!(" ({origin})"),
    };
    let list = || "`godel config show` lists all settings".to_owned();
    let (message, hint) = match error.kind {
        Kind::UnknownField(name, _) => {
            let name = full_name(&path, &name);
            let keys = Settings::keys();
            let near = nearest(&name, keys.iter().map(|key| key.name));
            let hint = near.map_or_else(list, |near| format!("did you mean `{near}`?"));
            (format!("`{name}` is not a setting{from}"), hint)
        }
        Kind::UnknownVariant(given, known) => {
            let message = format!("`{path}` cannot be \"{given}\"{from}");
            (message, format!("use one of: {}", known.join(", ")))
        }
        Kind::InvalidType(given, expected) | Kind::InvalidValue(given, expected) => {
            (format!("`{path}` must be {}, not {given}{from}", plain(&expected)), list())
        }
        Kind::Message(text) => (syntax(&path, &text, &from), list()),
        other => (format!("`{path}` is not understood: {other}{from}"), list()),
    };
    Error::config(message, hint)
}

/// Says in words for people what was expected.
fn plain(expected: &str) -> &str {
    match expected {
        "u32" => "a whole number from 0 to 4294967295",
        "u64" => "a whole number from 0 on",
        "a string" => "a text in quotes",
        "a boolean" => "true or false",
        other => other,
    }
}

/// Returns the whole name of a field that was not expected below a path.
fn full_name(path: &str, name: &str) -> String {
    if path.is_empty() || path == name || path.ends_with(&format!(".{name}")) {
        if path.is_empty() { name.to_owned() } else { path.to_owned() }
    } else {
        format!("{path}.{name}")
    }
}

/// Shortens what the TOML reader says; the line itself may hold a password.
fn syntax(path: &str, text: &str, from: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or("not understood");
    let last = lines.next_back().map(|last| format!(": {last}")).unwrap_or_default();
    if path.is_empty() {
        format!("the configuration is not TOML{from}: {first}{last}")
    } else {
        format!("`{path}` is not understood{from}: {first}{last}")
    }
}

#[cfg(test)]
#[path = "origin/tests.rs"]
mod tests;
