//! What every command needs to know.

use std::path::PathBuf;

use godel_args::{Flag, Global};
use godel_settings::{Environment, Loaded, Sources};

use crate::error::{Error, Result};
use crate::output::Output;

/// What every command needs to know.
#[derive(Debug)]
pub struct Context {
    /// The data directory; it need not exist.
    pub data: PathBuf,
    /// From where the data directory is known.
    pub data_origin: String,
    /// The server to talk to, if it is not the one of the data directory.
    pub server: Option<String>,
    /// Whom to trust as a server, if it is not known by itself: a PEM file or a fingerprint.
    pub ca: Option<String>,
    /// The configuration file, if it is not the one in the data directory.
    config: Option<PathBuf>,
    /// The environment.
    pub environment: Environment,
    /// Where to write.
    pub output: Output,
}

impl Context {
    /// Reads the global options and the environment.
    pub fn new(global: &Global, environment: Environment, output: Output) -> Result<Self> {
        let (data, data_origin) = data_dir(global, &environment)?;
        let data = std::path::absolute(&data)
            .map_err(|cause| Error::file(&data.display(), "found", cause))?;
        let server = global.server.as_deref().or_else(|| environment.get("GODEL_SERVER"));
        let server = server.map(str::to_owned);
        let ca = global.ca.as_deref().or_else(|| environment.get("GODEL_CA")).map(str::to_owned);
        let config =
            global.config.clone().or_else(|| environment.get("GODEL_CONFIG").map(PathBuf::from));
        Ok(Self { data, data_origin, server, ca, config, environment, output })
    }

    /// Loads the settings; flags win over everything else.
    pub fn settings(&self, flags: Vec<Flag<'_>>) -> Result<Loaded> {
        Ok(Loaded::load(&Sources {
            data: &self.data,
            file: self.config.as_deref(),
            environment: &self.environment,
            flags,
        })?)
    }
}

fn data_dir(global: &Global, environment: &Environment) -> Result<(PathBuf, String)> {
    if let Some(data) = &global.data {
        return Ok((data.clone(), "flag --data".to_owned()));
    }
    if let Some(data) = environment.get("GODEL_DATA") {
        return Ok((data.into(), "environment GODEL_DATA".to_owned()));
    }
    let base = match (environment.get("XDG_DATA_HOME"), environment.get("HOME")) {
        (Some(base), _) if base.starts_with('/') => PathBuf::from(base),
        (_, Some(home)) => PathBuf::from(home).join(".local/share"),
        (_, None) => {
            return Err(Error::config(
                "there is no home directory to keep data in",
                "choose a data directory with --data DIR or GODEL_DATA",
            ));
        }
    };
    Ok((base.join("godel"), "default".to_owned()))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn data(global: &Global, environment: Environment) -> PathBuf {
        Context::new(global, environment, Output::new(false, false)).unwrap().data
    }

    #[test]
    fn the_data_directory_comes_from_flag_then_environment_then_home() {
        let home = ("HOME", "/home/ann");
        let none = Global::default();
        assert_eq!(data(&none, [home].into()), Path::new("/home/ann/.local/share/godel"));
        let xdg = [home, ("XDG_DATA_HOME", "/data")];
        assert_eq!(data(&none, xdg.into()), Path::new("/data/godel"));
        let relative = [home, ("XDG_DATA_HOME", "data")];
        assert_eq!(data(&none, relative.into()), Path::new("/home/ann/.local/share/godel"));
        let variable = [home, ("GODEL_DATA", "/srv/godel")];
        assert_eq!(data(&none, variable.into()), Path::new("/srv/godel"));
        let flag = Global { data: Some("/flag".into()), ..Global::default() };
        assert_eq!(data(&flag, variable.into()), Path::new("/flag"));
        assert!(Context::new(&none, [].into(), Output::new(false, false)).is_err());
    }

    #[test]
    fn an_empty_variable_counts_as_not_set() {
        let environment = [("HOME", "/home/ann"), ("GODEL_DATA", "")];
        assert_eq!(
            data(&Global::default(), environment.into()),
            Path::new("/home/ann/.local/share/godel")
        );
    }
}
