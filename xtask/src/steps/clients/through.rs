//! The product between the clients and the provider.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::failure::{Result, Told};
use crate::godel::{Godel, Server};
use crate::shop::Shop;
use crate::stage::Stage;

/// Providers that speak one dialect only, so that every pair of dialects comes to be.
const ONE_DIALECT: [(&str, &str); 2] = [("chatonly", "chat"), ("responsesonly", "responses")];

/// How long the server may take to tell its metrics.
const PATIENCE: Duration = Duration::from_secs(10);

/// Godel at work; dropping it stops it.
pub(super) struct Through {
    godel: Godel,
    server: Server,
    /// Where clients are sent.
    pub(super) base: String,
    /// What they show.
    pub(super) token: String,
}

impl Through {
    /// Starts a server whose providers are all the scripted one, with keys that it keeps secret.
    pub(super) fn open(shop: &Shop, stage: &Stage) -> Result<Self> {
        let data = shop.nursery.folder("clients")?.join("data");
        fs::create_dir_all(&data).told("make a data folder")?;
        fs::write(data.join("proxy.toml"), settings(&stage.url)).told("write proxy.toml")?;
        let key = data.with_extension("key");
        fs::write(&key, &stage.key).told("write the key of the provider")?;
        let godel = Godel::new(shop, data);
        let server = godel.up()?;
        let names = ["openai", "anthropic", "google"].into_iter();
        for name in names.chain(ONE_DIALECT.map(|(name, _)| name)) {
            godel.call_fed(&["secret", "set", name], &key)?;
        }
        fs::remove_file(&key).told("remove the key of the provider")?;
        let made = godel.call(&["token", "create", "clients", "--agent", "clients", "--json"])?;
        let made: Value = serde_json::from_str(&made).told("read the token that was made")?;
        let text = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
        let (base, token) = (text("baseUrl"), text("token"));
        Ok(Self { godel, server, base, token })
    }

    /// Makes a token that has no money for a single request.
    pub(super) fn poor(&self, name: &str) -> Result<String> {
        self.made(&["token", "create", name, "--agent", name, "--budget", "0.000001", "--json"])
    }

    /// Makes a token and ends it.
    pub(super) fn ended(&self) -> Result<String> {
        let token = self.made(&["token", "create", "ended", "--agent", "ended", "--json"])?;
        self.godel.call(&["token", "revoke", "ended"])?;
        Ok(token)
    }

    fn made(&self, arguments: &[&str]) -> Result<String> {
        let made: Value = serde_json::from_str(&self.godel.call(arguments)?)
            .told("read the token that was made")?;
        Ok(made["token"].as_str().unwrap_or_default().to_owned())
    }

    /// Tells how often the server has refused a request to a model for a reason, before a provider was asked.
    pub(super) fn refused(&self, reason: &str) -> Result<u64> {
        let address = self.server.url().trim_start_matches("http://");
        let key = self.godel.key()?;
        let asked = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(address)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            write!(
                stream,
                "GET /metrics HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {key}\r\n\
                 connection: close\r\n\r\n"
            )?;
            let mut text = String::new();
            stream.read_to_string(&mut text)?;
            Ok(text)
        };
        let text = asked().told("ask the server for its metrics")?;
        let name = format!("godel_llm_refused_total{{reason=\"{reason}\"}} ");
        let found = text.lines().find_map(|line| line.strip_prefix(&name));
        Ok(found.and_then(|count| count.trim().parse().ok()).unwrap_or(0))
    }

    /// Tells what Godel has on record of the clients: as many attempts as the provider saw, none open.
    pub(super) fn recorded(&self) -> Result<(u64, bool)> {
        let report = self.godel.call(&["usage", "--by", "agent", "--json"])?;
        let report: Value = serde_json::from_str(&report).told("read the usage")?;
        let budgets = self.godel.call(&["calls", "--limit", "1000", "--json"])?;
        Ok((report["total"]["requests"].as_u64().unwrap_or(0), !budgets.contains("\"open\"")))
    }

    /// Makes sure that no key and no token is in what the server has said.
    pub(super) fn kept_secrets(&self, stage: &Stage) -> bool {
        let said = self.server.said();
        !said.contains(&stage.key) && !said.contains(&self.token) && self.godel.data().exists()
    }
}

fn settings(url: &str) -> String {
    let mut text = format!(
        "[providers.openai]\nchat = \"{url}/v1\"\nresponses = \"{url}/v1\"\n\
         [providers.anthropic]\nanthropic = \"{url}\"\n\
         [providers.google]\ngemini = \"{url}\"\n"
    );
    for (name, dialect) in ONE_DIALECT {
        text.push_str(&format!(
            "[providers.{name}]\n{dialect} = \"{url}/v1\"\nmodels = {{ \"{name}\" = \"gpt-5\" }}\n"
        ));
    }
    text.push_str("[limits.agent]\nper_minute = 1000000\nper_hour = 1000000\nper_day = 1000000\n");
    text
}
