//! Runs a scripted provider until it is told to stop, or its owner is gone.
//!
//! Prints one line of JSON: where it is, and the key that it accepts.

use std::io::{self, Write};
use std::process::ExitCode;

use godel_scripted::{Options, Scripted};

const HELP: &str = "\
An LLM provider that does what the prompt says

Usage: godel-scripted [--listen ADDRESS] [--key KEY].. [--model NAME].. [--with-owner]

  --listen ADDRESS  Where to listen [default: 127.0.0.1:0]
  --key KEY         A key to accept; may be given again [default: sk-scripted]
  --model NAME      A model to list; may be given again
  --with-owner      End when standard input does";

#[tokio::main]
async fn main() -> ExitCode {
    match run(std::env::args().skip(1)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            // Nothing can be done for a terminal that does not listen.
            let _ = writeln!(io::stderr(), "error: {message}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: impl Iterator<Item = String>) -> Result<(), String> {
    let Some((options, with_owner)) = parse(arguments)? else {
        return writeln!(io::stdout(), "{HELP}").map_err(|error| error.to_string());
    };
    let keys = options.keys.clone();
    let listen = options.listen;
    let scripted = Scripted::start(options)
        .await
        .map_err(|error| format!("could not listen on {listen}: {error}"))?;
    let line = serde_json::json!({ "url": scripted.base_url(), "keys": keys });
    writeln!(io::stdout(), "{line}").map_err(|error| error.to_string())?;
    if with_owner {
        let gone = || io::copy(&mut io::stdin(), &mut io::sink());
        // An input that cannot be read has ended too.
        let _ = tokio::task::spawn_blocking(gone).await;
    } else {
        std::future::pending::<()>().await;
    }
    Ok(())
}

/// Reads the arguments; none means that help is wanted.
fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Option<(Options, bool)>, String> {
    let mut options = Options::default();
    let (mut keys, mut models, mut with_owner) = (Vec::new(), Vec::new(), false);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| format!("{argument} needs a value"));
        match argument.as_str() {
            "--listen" => {
                let text = value()?;
                options.listen = text.parse().map_err(|_| format!("{text} is not an address"))?;
            }
            "--key" => keys.push(value()?),
            "--model" => models.push(value()?),
            "--with-owner" => with_owner = true,
            "--help" | "-h" => return Ok(None),
            other => return Err(format!("{other} is not known; see --help")),
        }
    }
    if !keys.is_empty() {
        options.keys = keys;
    }
    if !models.is_empty() {
        options.models = models;
    }
    Ok(Some((options, with_owner)))
}
