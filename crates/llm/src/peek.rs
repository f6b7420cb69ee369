//! What a request says about itself, and how a little of it is changed in place.

use std::ops::Range;

use serde::Deserialize;

use crate::beyond::{Beyond, Watch};
use crate::scan::{Member, NotJson, members_and_texts};
use crate::{Dialect, Tier};

/// What a caller wishes of the way its request takes; never sent on.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Routing {
    /// Whether another model or provider may answer.
    #[serde(alias = "fallbackAllowed")]
    pub fallback_allowed: Option<bool>,
    /// What the request may cost at most, in dollars.
    #[serde(alias = "costLimit")]
    pub cost_limit: Option<f64>,
    /// What counts in the choice: `order`, `cost` or `latency`.
    pub prefer: Option<String>,
    /// Models to try after the one that was asked for.
    pub fallbacks: Option<Vec<String>>,
}

/// What a request says about itself.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Peek {
    /// The model, if the body names one.
    pub model: Option<String>,
    /// Whether the reply is to be streamed.
    pub stream: bool,
    /// How many tokens of output it allows.
    pub max_output: Option<u64>,
    /// How many answers it wants at once; 0 if it does not say.
    pub choices: u64,
    /// Whether a chat stream is to end with its usage.
    pub include_usage: bool,
    /// Whether it goes on from a reply that one provider keeps.
    pub continues: bool,
    /// What it wishes of its way.
    pub routing: Option<Routing>,
    /// By which name the client calls its session, if it does.
    pub session: Option<String>,
    /// How it wants to be served.
    pub tier: Tier,
    /// Whether it leaves it to the provider how it is served, which may be before others.
    pub any_tier: bool,
    /// What it makes a provider do beyond what is in it.
    pub beyond: Beyond,
    places: Places,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Places {
    model: Option<Range<usize>>,
    /// From the name to the next member, or from the end of the one before.
    routing: Option<Range<usize>>,
    stream_options: Option<Range<usize>>,
    /// Behind the first bracket.
    first: usize,
    is_empty: bool,
}

/// Why a request cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRequest {
    /// The body is no JSON object.
    #[error(transparent)]
    NotJson(#[from] NotJson),
    /// A member is there twice: which of them counts would be a guess.
    #[error("`{0}` is there twice")]
    Twice(&'static str),
    /// A member is not what it must be.
    #[error("`{0}` is not {1}")]
    Wrong(&'static str, &'static str),
}

impl Peek {
    /// Looks into the body of a request.
    ///
    /// # Errors
    /// If it is no JSON object, or what is looked for is there twice or of the wrong kind.
    pub fn of(dialect: Dialect, body: &[u8]) -> Result<Self, BadRequest> {
        let mut watch = Watch::new(body);
        let members = members_and_texts(body, &mut |text| watch.look(text))?;
        let mut peek = Self { beyond: watch.found, ..Self::default() };
        let mut seen: Vec<&'static str> = Vec::new();
        for (place, member) in members.iter().enumerate() {
            let Some(known) = known(dialect, &member.name) else { continue };
            if seen.contains(&known) {
                return Err(BadRequest::Twice(known));
            }
            seen.push(known);
            if known == "routing" {
                peek.places.routing = Some(span(&members, place));
            }
            peek.take(known, member, body)?;
        }
        let first = members.first();
        peek.places.is_empty = first.is_none();
        peek.places.first = first.map_or(0, |member| member.start);
        Ok(peek)
    }

    fn take(
        &mut self,
        known: &'static str,
        member: &Member<'_>,
        body: &[u8],
    ) -> Result<(), BadRequest> {
        let value = &body[member.value.clone()];
        match known {
            "model" => {
                self.model = Some(read(known, "a text", value)?);
                self.places.model = Some(member.value.clone());
            }
            "stream" => {
                self.stream = read::<Option<bool>>(known, "true or false", value)?.unwrap_or(false);
            }
            "max_tokens" | "max_completion_tokens" | "max_output_tokens" => {
                let given = read::<Option<u64>>(known, "a number of tokens", value)?;
                // The newer name of the two counts, whatever their order.
                if known == "max_completion_tokens" || self.max_output.is_none() {
                    self.max_output = given.or(self.max_output);
                }
            }
            "generationConfig" => {
                let config: Option<GenerationConfig> = read(known, "an object", value)?;
                self.max_output = config.as_ref().and_then(|config| config.max_output_tokens);
                self.choices = config.and_then(|config| config.candidate_count).unwrap_or(0);
            }
            "n" => {
                self.choices = read::<Option<u64>>(known, "a number", value)?.unwrap_or(0);
            }
            "stream_options" => {
                let options: Option<StreamOptions> = read(known, "an object", value)?;
                self.include_usage = options.is_some_and(|options| options.include_usage);
                self.places.stream_options = Some(member.value.clone());
            }
            "previous_response_id" | "conversation" => self.continues |= value != b"null",
            "routing" => {
                let expected = "an object with fallback_allowed, cost_limit, prefer or fallbacks";
                self.routing = read(known, expected, value)?;
            }
            // A hint only: what is no text is of no use and no harm.
            "prompt_cache_key" => self.session = serde_json::from_slice(value).ok(),
            "metadata" => self.session = session_of(value),
            "service_tier" | "serviceTier" | "speed" => self.take_tier(value),
            _ => {}
        }
        Ok(())
    }

    /// What is no text is refused by the provider.
    fn take_tier(&mut self, value: &[u8]) {
        let Ok(text) = serde_json::from_slice::<String>(value) else { return };
        self.any_tier |= text == "auto";
        let tier = Tier::named(&text);
        // A request can say two things at once: which tier, and how fast.
        if tier != Tier::Standard && self.tier != Tier::Fast {
            self.tier = tier;
        }
    }

    /// Returns the body as the provider gets it, or nothing if it stays as it is.
    pub fn edited(&self, body: &[u8], edit: &Edit<'_>) -> Option<Vec<u8>> {
        let mut changes: Vec<(Range<usize>, Vec<u8>)> = Vec::new();
        if let (Some(model), Some(place)) = (edit.model, &self.places.model)
            && self.model.as_deref() != Some(model)
        {
            changes.push((place.clone(), serde_json::to_vec(model).unwrap_or_default()));
        }
        if let Some(place) = &self.places.routing {
            changes.push((place.clone(), Vec::new()));
        }
        if edit.include_usage && !self.include_usage {
            changes.push(self.ask_for_usage(body));
        }
        if changes.is_empty() {
            return None;
        }
        changes.sort_by_key(|(place, _)| place.start);
        let grown: usize = changes.iter().map(|(_, text)| text.len()).sum();
        let mut edited = Vec::with_capacity(body.len() + grown);
        let mut from = 0;
        for (place, text) in changes {
            edited.extend_from_slice(body.get(from..place.start).unwrap_or_default());
            edited.extend_from_slice(&text);
            from = from.max(place.end);
        }
        edited.extend_from_slice(&body[from..]);
        Some(edited)
    }

    fn ask_for_usage(&self, body: &[u8]) -> (Range<usize>, Vec<u8>) {
        if let Some(place) = &self.places.stream_options {
            let given = serde_json::from_slice(&body[place.clone()]).ok();
            let mut options = match given {
                Some(serde_json::Value::Object(options)) => options,
                _ => serde_json::Map::new(),
            };
            options.insert("include_usage".to_owned(), true.into());
            return (place.clone(), serde_json::to_vec(&options).unwrap_or_default());
        }
        let comma = if self.places.is_empty { "" } else { "," };
        let first = self.places.first;
        (first..first, format!("\"stream_options\":{{\"include_usage\":true}}{comma}").into_bytes())
    }
}

/// What is changed in a request on its way to a provider that speaks its dialect.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Edit<'a> {
    /// The provider's name for the model.
    pub model: Option<&'a str>,
    /// Whether the stream must tell its usage.
    pub include_usage: bool,
}

/// Returns the session that Claude Code and what is built on it name within the name of the user: as JSON, or
/// behind a word.
fn session_of(metadata: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Metadata {
        user_id: String,
    }
    #[derive(Deserialize)]
    struct UserId {
        session_id: String,
    }
    let user = serde_json::from_slice::<Metadata>(metadata).ok()?.user_id;
    let named = serde_json::from_str::<UserId>(&user).ok().map(|id| id.session_id);
    named.or_else(|| user.rsplit_once("_session_").map(|(_, session)| session.to_owned()))
}

#[derive(Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Deserialize)]
struct GenerationConfig {
    #[serde(default, rename = "maxOutputTokens", alias = "max_output_tokens")]
    max_output_tokens: Option<u64>,
    #[serde(default, rename = "candidateCount", alias = "candidate_count")]
    candidate_count: Option<u64>,
}

fn known(dialect: Dialect, name: &str) -> Option<&'static str> {
    let shared = match name {
        "routing" => Some("routing"),
        _ => None,
    };
    if shared.is_some() {
        return shared;
    }
    let names: &[&'static str] = match dialect {
        Dialect::Chat => &[
            "model",
            "n",
            "stream",
            "max_tokens",
            "max_completion_tokens",
            "stream_options",
            "prompt_cache_key",
            "service_tier",
        ],
        Dialect::Responses => &[
            "model",
            "stream",
            "max_output_tokens",
            "previous_response_id",
            "conversation",
            "prompt_cache_key",
            "service_tier",
        ],
        Dialect::Anthropic => {
            &["model", "stream", "max_tokens", "service_tier", "speed", "metadata"]
        }
        Dialect::Gemini => &["generationConfig", "serviceTier", "service_tier"],
    };
    names.iter().copied().find(|known| *known == name)
}

fn read<'v, T: Deserialize<'v>>(
    name: &'static str,
    expected: &'static str,
    value: &'v [u8],
) -> Result<T, BadRequest> {
    serde_json::from_slice(value).map_err(|_| BadRequest::Wrong(name, expected))
}

/// Returns the place of a member with the comma that goes with it.
fn span(members: &[Member<'_>], place: usize) -> Range<usize> {
    let member = &members[place];
    match (place.checked_sub(1).map(|before| &members[before]), members.get(place + 1)) {
        (_, Some(next)) => member.start..next.start,
        (Some(before), None) => before.value.end..member.value.end,
        (None, None) => member.start..member.value.end,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn peek(dialect: Dialect, body: &Value) -> Peek {
        Peek::of(dialect, body.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn a_session_is_found_within_the_name_of_the_user() {
        for (user, session) in [
            (r#"{"device_id":"d","session_id":"s-1"}"#, Some("s-1")),
            ("user_0a_account_1_session_s-2", Some("s-2")),
            ("somebody", None),
        ] {
            let body = json!({"model": "m", "metadata": {"user_id": user}});
            assert_eq!(peek(Dialect::Anthropic, &body).session.as_deref(), session);
        }
        let body = json!({"model": "m", "metadata": null});
        assert_eq!(peek(Dialect::Anthropic, &body).session, None);
    }

    #[test]
    fn each_dialect_says_what_it_wants() {
        let chat = peek(
            Dialect::Chat,
            &json!({"model": "m", "stream": true, "max_tokens": 5, "max_completion_tokens": 9,
                "stream_options": {"include_usage": true}, "prompt_cache_key": "s"}),
        );
        assert_eq!((chat.model.as_deref(), chat.stream), (Some("m"), true));
        assert_eq!((chat.max_output, chat.include_usage), (Some(9), true));
        assert_eq!(chat.session.as_deref(), Some("s"));
        let responses = peek(
            Dialect::Responses,
            &json!({"model": "m", "max_output_tokens": 7, "previous_response_id": "r"}),
        );
        assert_eq!((responses.max_output, responses.continues), (Some(7), true));
        assert!(!peek(Dialect::Responses, &json!({"previous_response_id": null})).continues);
        let gemini = peek(Dialect::Gemini, &json!({"generationConfig": {"maxOutputTokens": 3}}));
        assert_eq!((gemini.max_output, gemini.model), (Some(3), None));
    }

    #[test]
    fn a_request_says_how_it_wants_to_be_served() {
        for (dialect, body, tier, any) in [
            (Dialect::Chat, json!({}), Tier::Standard, false),
            (Dialect::Chat, json!({"service_tier": "auto"}), Tier::Standard, true),
            (Dialect::Chat, json!({"service_tier": "default"}), Tier::Standard, false),
            (Dialect::Responses, json!({"service_tier": "priority"}), Tier::Priority, false),
            (Dialect::Responses, json!({"service_tier": null}), Tier::Standard, false),
            (Dialect::Anthropic, json!({"service_tier": "standard_only"}), Tier::Standard, false),
            (
                Dialect::Anthropic,
                json!({"speed": "fast", "service_tier": "auto"}),
                Tier::Fast,
                true,
            ),
            (Dialect::Anthropic, json!({"speed": "standard"}), Tier::Standard, false),
            (Dialect::Gemini, json!({"serviceTier": "SERVICE_TIER_FLEX"}), Tier::Flex, false),
            (Dialect::Gemini, json!({"service_tier": "priority"}), Tier::Priority, false),
        ] {
            let peek = peek(dialect, &body);
            assert_eq!((peek.tier, peek.any_tier), (tier, any), "{dialect}: {body}");
        }
    }

    #[test]
    fn what_is_there_twice_or_wrong_is_refused() {
        let told = |text: &str| Peek::of(Dialect::Chat, text.as_bytes()).unwrap_err().to_string();
        assert_eq!(told(r#"{"model":"a","mod\u0065l":"b"}"#), "`model` is there twice");
        assert_eq!(told(r#"{"model":1}"#), "`model` is not a text");
        assert_eq!(told(r#"{"stream":"yes"}"#), "`stream` is not true or false");
        assert!(
            told(r#"{"routing":{"surprise":1}}"#).starts_with("`routing` is not an object with")
        );
    }

    #[test]
    fn a_body_that_needs_no_change_is_not_touched() {
        let body = r#"{ "model": "m", "stream":true }"#.as_bytes();
        let peek = Peek::of(Dialect::Chat, body).unwrap();
        assert_eq!(peek.edited(body, &Edit { model: Some("m"), include_usage: false }), None);
    }

    #[test]
    fn only_what_must_change_changes() {
        let body =
            r#"{"messages":[ 1,2 ],"routing":{"cost_limit":0.5}, "model" : "alias","x":"\u00e9"}"#;
        let peek = Peek::of(Dialect::Chat, body.as_bytes()).unwrap();
        assert_eq!(peek.routing.as_ref().unwrap().cost_limit, Some(0.5));
        let edit = Edit { model: Some("real"), include_usage: true };
        let edited = String::from_utf8(peek.edited(body.as_bytes(), &edit).unwrap()).unwrap();
        let expected = r#"{"stream_options":{"include_usage":true},"messages":[ 1,2 ],"model" : "real","x":"\u00e9"}"#;
        assert_eq!(edited, expected);
    }

    proptest! {
        #[test]
        fn an_edit_changes_nothing_else(order in Just(vec![0, 1, 2, 3, 4]).prop_shuffle(), usage: bool) {
            let all = [
                r#""model":"alias""#,
                r#""routing":{"fallback_allowed":false}"#,
                r#""stream_options":{"x":[1]}"#,
                r#""messages":[{"content":"\"model\":\"alias\""}]"#,
                r#""tools":[]"#,
            ];
            let parts: Vec<&str> = order.iter().map(|place| all[*place]).collect();
            let body = format!("{{{}}}", parts.join(" , "));
            let peek = Peek::of(Dialect::Chat, body.as_bytes()).unwrap();
            let edit = Edit { model: Some("real"), include_usage: usage };
            let edited = peek.edited(body.as_bytes(), &edit).unwrap();
            let edited: Value = serde_json::from_slice(&edited).unwrap();
            let options = if usage { json!({"x": [1], "include_usage": true}) } else { json!({"x": [1]}) };
            prop_assert_eq!(edited, json!({
                "model": "real",
                "stream_options": options,
                "messages": [{"content": "\"model\":\"alias\""}],
                "tools": [],
            }));
        }
    }
}
