//! The part of the server that is for the test, not for its client.

use std::collections::BTreeMap;

use hyper::Method;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::fault::Fault;
use crate::record::Recorded;
use crate::stage::Stage;

/// A change to the whole server; what is not named stays.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Switch {
    /// What happens to every request; `Some(None)` (in JSON `null`) ends it.
    #[serde(deserialize_with = "present")]
    pub fault: Option<Option<Fault>>,
    /// How often it happens; always, if there is no number.
    pub times: Option<u32>,
    /// The keys that are accepted from now on.
    pub keys: Option<Vec<String>>,
    /// Headers that every answer has from now on.
    pub headers: Option<BTreeMap<String, String>>,
}

impl Switch {
    /// Lets every request fail.
    pub fn fault(fault: Fault) -> Self {
        Self { times: fault.times, fault: Some(Some(fault)), ..Self::default() }
    }

    /// Ends a fault of the whole server.
    pub fn well() -> Self {
        Self { fault: Some(None), ..Self::default() }
    }

    /// Changes the keys that are accepted.
    pub fn keys<K: Into<String>>(keys: impl IntoIterator<Item = K>) -> Self {
        Self { keys: Some(keys.into_iter().map(Into::into).collect()), ..Self::default() }
    }

    /// Puts headers on every answer.
    pub fn headers<const N: usize>(headers: [(&str, &str); N]) -> Self {
        let named = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
        Self { headers: Some(named.into()), ..Self::default() }
    }
}

/// Tells a field that is null from one that is not there.
fn present<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Option<Fault>>, D::Error> {
    Option::<Fault>::deserialize(deserializer).map(Some)
}

/// Answers a request of the test; none if it is not one.
pub(crate) fn answer(
    stage: &Stage,
    method: &Method,
    path: &str,
    query: &str,
    body: &[u8],
) -> Option<(u16, Value)> {
    match (method, path) {
        (&Method::GET, "/_recorded") => {
            let after = query.split('&').find_map(|pair| pair.strip_prefix("after="));
            let after = after.and_then(|number| number.parse().ok()).unwrap_or_default();
            let shown: Vec<Value> = stage.recorded(after).iter().map(Recorded::shown).collect();
            Some((200, shown.into()))
        }
        (&Method::GET, "/_stats") => Some((200, json!(stage.stats()))),
        (&Method::POST, "/_switch") => Some(match serde_json::from_slice::<Switch>(body) {
            Ok(switch) => {
                stage.switch(switch);
                (200, json!({ "ok": true }))
            }
            Err(error) => (400, json!({ "error": error.to_string() })),
        }),
        _ if path.starts_with("/_") => Some((404, json!({ "error": "there is no such control" }))),
        _ => None,
    }
}
