//! Who plays the model: a scripted provider of our own, or one behind a running Godel.

use godel_scripted::{Options, Scripted};
use serde_json::Value;

pub(crate) struct Stage {
    /// Ends with this.
    _own: Option<Scripted>,
    /// Where agents are sent.
    pub(crate) base: String,
    /// What they show.
    pub(crate) token: String,
    /// Where the provider itself tells what it was asked.
    control: String,
}

impl Stage {
    /// Opens a stage: the one that `GODEL_TEST_BASE`, `_TOKEN` and `_STAGE` name, or one of our own.
    pub(crate) async fn open() -> Self {
        godel_tls::install();
        let named = |name: &str| std::env::var(format!("GODEL_TEST_{name}")).ok();
        if let (Some(base), Some(token), Some(control)) =
            (named("BASE"), named("TOKEN"), named("STAGE"))
        {
            return Self { _own: None, base, token, control };
        }
        let own = Scripted::start(Options::default()).await.unwrap();
        let (base, token) = (own.base_url(), own.key().to_owned());
        Self { _own: Some(own), control: base.clone(), base, token }
    }

    async fn recorded(&self, after: u64) -> Vec<Value> {
        let url = format!("{}/_recorded?after={after}", self.control);
        let body = reqwest::get(url).await.unwrap().bytes().await.unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    /// The number of the last request.
    pub(crate) async fn last(&self) -> u64 {
        let all = self.recorded(0).await;
        all.iter().filter_map(|request| request["number"].as_u64()).max().unwrap_or(0)
    }

    /// What was asked after that, as text.
    pub(crate) async fn asked(&self, after: u64) -> Vec<String> {
        self.recorded(after).await.iter().map(|request| request["body"].to_string()).collect()
    }
}
