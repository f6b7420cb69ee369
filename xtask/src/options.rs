//! The command line of the chore runner.

use crate::failure::{Failure, Result};

/// How many crashes a torture run makes unless told otherwise.
const ROUNDS: u32 = 200;

/// Which real clients are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Clients {
    /// The SDKs, which are small.
    Sdks,
    /// The agent programs too.
    All,
}

/// What was asked for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) chore: String,
    /// The one step of `test` that is wanted.
    pub(crate) only: Option<String>,
    pub(crate) clients: Clients,
    pub(crate) rounds: u32,
    pub(crate) verbose: bool,
    /// What `bench` hands on, or what `torture` is to be about.
    pub(crate) rest: Vec<String>,
}

impl Options {
    /// Reads the arguments after the program's name.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = String>) -> Result<Self> {
        let mut arguments = arguments.into_iter();
        let chore = arguments.next().unwrap_or_default();
        let mut options = Self {
            chore,
            only: None,
            clients: Clients::Sdks,
            rounds: ROUNDS,
            verbose: false,
            rest: Vec::new(),
        };
        if options.chore == "bench" {
            options.rest = arguments.collect();
            return Ok(options);
        }
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments.next().ok_or_else(|| Failure::new(format!("{argument} needs a value")))
            };
            match argument.as_str() {
                "--only" if options.chore == "test" => options.only = Some(value()?),
                "--clients" if options.chore == "test" => {
                    options.clients = match value()?.as_str() {
                        "all" => Clients::All,
                        "sdks" => Clients::Sdks,
                        other => {
                            let what = format!("--clients is `sdks` or `all`, not {other}");
                            return Err(Failure::new(what));
                        }
                    };
                }
                "--rounds" if options.chore == "torture" => {
                    let text = value()?;
                    options.rounds = text
                        .parse()
                        .map_err(|_| Failure::new(format!("--rounds is not a number: {text}")))?;
                }
                "beads" | "queue" | "agents"
                    if options.chore == "torture" && options.rest.is_empty() =>
                {
                    options.rest.push(argument);
                }
                "--crash" | "--live" | "--keep" | "--tour" if options.chore == "demo" => {
                    options.rest.push(argument);
                }
                "--verbose" | "-v" => options.verbose = true,
                other => {
                    let what = format!("cargo xtask {} does not know {other}", options.chore);
                    return Err(Failure::new(what).hint("see `cargo xtask help`"));
                }
            }
        }
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Options> {
        Options::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn each_chore_knows_its_own_options() {
        assert_eq!(parse("test --only fuzz").unwrap().only.as_deref(), Some("fuzz"));
        assert_eq!(parse("test").unwrap().clients, Clients::Sdks);
        assert_eq!(parse("test --clients all").unwrap().clients, Clients::All);
        assert_eq!(parse("torture --rounds 7").unwrap().rounds, 7);
        assert_eq!(parse("torture").unwrap().rounds, ROUNDS);
        let beads = parse("torture beads --rounds 1000").unwrap();
        assert_eq!((beads.rest, beads.rounds), (vec!["beads".to_owned()], 1_000));
        assert_eq!(parse("torture queue").unwrap().rest, ["queue"]);
        assert_eq!(parse("torture agents").unwrap().rest, ["agents"]);
        assert_eq!(parse("demo --crash --keep").unwrap().rest, ["--crash", "--keep"]);
        assert_eq!(parse("bench server --rounds x").unwrap().rest, ["server", "--rounds", "x"]);
    }

    #[test]
    fn what_is_not_known_is_refused() {
        for line in [
            "test --rounds 7",
            "test beads",
            "torture x",
            "torture beads queue",
            "demo --only fuzz",
            "test --only",
            "test --clients some",
            "demo --clients all",
            "torture --rounds many",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
