//! `cargo xtask demo`: builds the product and shows its main job with `godel demo`.
//!
//! With `--tour` it shows the rest of the product as well, act by act, in a temporary folder. An act is a file in `demo/` with a function `fn(&mut Stage) -> Result<()>`, and a line in
//! [`ACTS`]. It uses the product as a person would, and checks what it claims.

mod agents;
mod beads;
mod browser;
mod crash;
mod events;
mod login;
mod models;
mod people;
mod server;
mod tls;

use crate::failure::{Failure, Result, Told as _};
use crate::godel::{Godel, Server};
use crate::options::Options;
use crate::shop::{Shop, line_of};
use crate::stage::Stage as Provider;
use crate::steps::web;
use crate::tools;

/// The acts, in order; the server of the first serves the others.
const ACTS: [Act; 9] = [
    Act { title: "A server of your own", play: server::play },
    Act { title: "A login: the link works once", play: login::play },
    Act { title: "People: invited, limited, on record", play: people::play },
    Act { title: "Events: everything that happens is written down", play: events::play },
    Act { title: "Beads: work that lives in git", play: beads::play },
    Act { title: "Models: one token, every provider, each cent counted", play: models::play },
    Act { title: "Agents: at work behind walls, believed when git agrees", play: agents::play },
    Act { title: "kill -9: what was answered is kept", play: crash::play },
    Act { title: "TLS: nobody listens in", play: tls::play },
];

struct Act {
    title: &'static str,
    play: fn(&mut Stage<'_>) -> Result<()>,
}

/// What the acts share.
struct Stage<'s> {
    shop: &'s Shop,
    godel: Godel,
    server: Option<Server>,
    /// Plays the provider of models from the act about models on.
    provider: Option<Provider>,
}

impl Stage<'_> {
    /// Starts the server, or starts it again, on the same data.
    fn raise(&mut self) -> Result<&Server> {
        self.raise_with(&[])
    }

    /// Starts the server again, with some settings, on the same data.
    fn raise_with(&mut self, settings: &[&str]) -> Result<&Server> {
        // The earlier one first: two servers never share a data folder.
        self.server = None;
        Ok(self.server.insert(self.godel.up_with(settings)?))
    }

    /// The running server.
    fn server(&self) -> Result<&Server> {
        self.server.as_ref().ok_or_else(|| Failure::new("no server is running in this act"))
    }

    /// Takes the running server off the stage.
    fn take_server(&mut self) -> Result<Server> {
        self.server.take().ok_or_else(|| Failure::new("no server is running in this act"))
    }

    /// Runs a client command and shows it together with what it prints.
    fn show(&self, arguments: &[&str]) -> Result<()> {
        let mut typed = std::process::Command::new("godel");
        println!("  $ {}", line_of(typed.args(arguments)));
        for line in self.godel.call(arguments)?.lines() {
            println!("    {line}");
        }
        Ok(())
    }
}

/// Builds the product, and shows its main job or the whole tour.
pub(crate) fn run(options: &Options) -> Result<()> {
    let shop = Shop::open(options.verbose)?;
    println!("Building godel (the first time takes a few minutes)");
    if tools::has("npm") && shop.web().join("package.json").is_file() {
        web::install(&shop)?;
        web::build(&shop)?;
    } else {
        println!("  npm is missing: the dashboard is left out, all else works");
    }
    shop.captured("build", &mut shop.cargo(&["build", "--bin", "godel"]))?;
    if !options.rest.iter().any(|word| word == "--tour") {
        let mut show = std::process::Command::new(shop.godel("debug"));
        let status = show.arg("demo").args(&options.rest).status().told("run godel demo")?;
        return match status.success() {
            true => Ok(()),
            false => Err(Failure::new(format!("godel demo ended with {status}"))),
        };
    }
    let data = shop.nursery.folder("demo")?.join("data");
    println!("  all data lives in {} and goes away at the end", data.display());
    println!("  (each command below also gets --data with that folder)");
    let mut stage =
        Stage { shop: &shop, godel: Godel::new(&shop, data), server: None, provider: None };
    for (number, act) in ACTS.iter().enumerate() {
        println!("\n{}. {}", number + 1, act.title);
        (act.play)(&mut stage)?;
    }
    if let Some(server) = stage.server.take() {
        server.stop()?;
    }
    drop(shop);
    println!("\n{}", server::next_steps());
    Ok(())
}
