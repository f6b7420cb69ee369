//! The way from an agent to Godel: what it may ask about itself, over HTTP.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::event::{Todo, clip};
use crate::launch::TOKEN_VARIABLE;

/// The variable that holds the address of Godel's proxy.
pub const BASE_VARIABLE: &str = "GODEL_BASE_URL";
/// No answer of Godel is larger.
const ANSWER_MAX_BYTES: usize = 4 * 1024 * 1024;
/// How long an answer may take that waits for nobody.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long Godel is asked to wait for a person each time.
const WAIT_SECONDS: u64 = 25;
/// How long Godel may be away before a question to a person is given up.
const AWAY_MAX: Duration = Duration::from_secs(15 * 60);
const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(10);

/// What an agent may ask Godel, as itself.
#[derive(Debug, Clone)]
pub struct Godel {
    http: reqwest::Client,
    base: String,
    token: SecretString,
}

/// Why Godel did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A variable is missing.
    #[error("{0} is not set: this works only where Godel runs an agent")]
    Unset(&'static str),
    /// There is no way to Godel at the moment.
    #[error("Godel cannot be reached: {0}")]
    Away(String),
    /// Godel says no.
    #[error("{0}")]
    Said(String),
}

/// An agent, as it sees itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Myself {
    /// Who it is.
    pub agent: Agent,
    /// What it works on, if that is a bead.
    pub bead: Option<Bead>,
    /// What it is to do.
    #[serde(default)]
    pub task: String,
    /// Its list of things to do.
    #[serde(default)]
    pub todos: Vec<Todo>,
    /// How many messages wait for it.
    #[serde(default)]
    pub unread: u64,
}

/// Who an agent is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: String,
    /// What it does.
    pub state: String,
}

/// A bead, as the agent that works on it sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bead {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// More about it.
    #[serde(default)]
    pub description: String,
    /// How far it is.
    pub status: String,
}

/// A message to an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mail {
    /// Its id.
    pub id: String,
    /// Who wrote it.
    pub from: String,
    /// What.
    pub text: String,
    /// When.
    pub sent_at: String,
}

/// How far a question to a person is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Whether somebody answered.
    pub state: QuestionState,
    /// The answer.
    pub answer: Option<String>,
}

/// Whether somebody answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QuestionState {
    /// Not yet.
    Open,
    /// Somebody did.
    Answered,
    /// Nobody will; the agent decides.
    Declined,
}

/// A tool that the permissions of a role give.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GrantedTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its input.
    pub input_schema: Value,
}

#[derive(Deserialize)]
struct GrantedTools {
    tools: Vec<GrantedTool>,
}

#[derive(Deserialize)]
struct Said {
    text: String,
}

/// What came of an agent's word that it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether it is.
    pub accepted: bool,
    /// What is missing.
    #[serde(default)]
    pub missing: Vec<String>,
}

#[derive(Deserialize)]
struct Mails {
    mail: Vec<Mail>,
}

#[derive(Deserialize)]
struct Named {
    id: String,
}

impl Godel {
    /// Speaks to Godel at the address of its proxy, with the token of an agent.
    pub fn new(http: reqwest::Client, base_url: &str, token: SecretString) -> Self {
        let base = base_url.trim_end_matches('/');
        // The API is beside the proxy.
        let base = base.strip_suffix("/proxy").unwrap_or(base);
        Self { http, base: format!("{base}/api/v1/self"), token }
    }

    /// Takes address and token from the environment, as a process of an agent has them.
    ///
    /// # Errors
    /// If one of them is not there.
    pub fn from_env(http: reqwest::Client) -> Result<Self, Refusal> {
        let named = |name: &'static str| {
            let value = std::env::var(name).ok().filter(|value| !value.is_empty());
            value.ok_or(Refusal::Unset(name))
        };
        let token = SecretString::from(named(TOKEN_VARIABLE)?);
        Ok(Self::new(http, &named(BASE_VARIABLE)?, token))
    }

    /// Asks who I am and what I do.
    ///
    /// # Errors
    /// If Godel is away or says no.
    pub async fn myself(&self) -> Result<Myself, Refusal> {
        self.ask(self.request(Method::GET, "")).await
    }

    /// Writes the list of things to do, whole.
    ///
    /// # Errors
    /// If Godel is away or says no.
    pub async fn write_todos(&self, todos: &[Todo]) -> Result<(), Refusal> {
        let request = self.request(Method::PUT, "/todos").json(&json!({ "todos": todos }));
        self.ask::<Value>(request).await.map(drop)
    }

    /// Takes the messages that wait; they count as read then.
    ///
    /// # Errors
    /// If Godel is away or says no.
    pub async fn read_mail(&self) -> Result<Vec<Mail>, Refusal> {
        self.ask::<Mails>(self.request(Method::GET, "/mail")).await.map(|answer| answer.mail)
    }

    /// Writes to another agent or a person, and returns the id of the message.
    ///
    /// # Errors
    /// If Godel is away or says no.
    pub async fn send_mail(&self, to: &str, text: &str) -> Result<String, Refusal> {
        let body = json!({ "to": to, "text": text });
        let request = self.request(Method::POST, "/mail").json(&body);
        self.ask::<Named>(request).await.map(|sent| sent.id)
    }

    /// Asks a person and waits, however long it takes.
    ///
    /// # Errors
    /// If Godel says no, or is away for long.
    pub async fn question(&self, text: &str, choices: &[String]) -> Result<Question, Refusal> {
        let body = json!({ "text": text, "choices": choices });
        let request = self.request(Method::POST, "/questions").json(&body);
        let asked: Named = self.ask(request).await?;
        let id: String =
            asked.id.chars().filter(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
        let path = format!("/questions/{id}?waitSeconds={WAIT_SECONDS}");
        let (mut pause, mut away) = (PAUSE_MIN, Duration::ZERO);
        loop {
            let looked = self.ask::<Question>(self.request(Method::GET, &path)).await;
            match looked {
                Ok(Question { state: QuestionState::Open, .. }) => {
                    // Godel waits by itself; one that does not is not asked all the time.
                    (pause, away) = (PAUSE_MIN, Duration::ZERO);
                }
                // Godel is started again while somebody thinks about it.
                Err(Refusal::Away(_)) if away < AWAY_MAX => {
                    away += pause;
                    pause = (pause * 2).min(PAUSE_MAX);
                }
                settled => return settled,
            }
            tokio::time::sleep(pause).await;
        }
    }

    /// Says that the work is done, and returns what Godel thinks of that.
    ///
    /// # Errors
    /// If Godel is away or says no.
    pub async fn done(&self, summary: &str) -> Result<Verdict, Refusal> {
        let request = self.request(Method::POST, "/done").json(&json!({ "summary": summary }));
        // Gates are run for the answer.
        self.ask(request.timeout(Duration::from_secs(24 * 3600))).await
    }

    /// Lists the tools that the permissions of the role give.
    ///
    /// # Errors
    /// If Godel is away or says no.
    pub async fn tools(&self) -> Result<Vec<GrantedTool>, Refusal> {
        self.ask::<GrantedTools>(self.request(Method::GET, "/tools")).await.map(|all| all.tools)
    }

    /// Uses one of them, and returns what it says.
    ///
    /// # Errors
    /// If Godel is away or says no.
    pub async fn use_tool(&self, name: &str, input: &Value) -> Result<String, Refusal> {
        let request = self.request(Method::POST, &format!("/tools/{name}"));
        let said: Said = self.ask(request.json(&json!({ "input": input }))).await?;
        Ok(said.text)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.base));
        request.bearer_auth(self.token.expose_secret()).timeout(PATIENCE + Duration::from_secs(15))
    }

    async fn ask<T: DeserializeOwned>(&self, request: RequestBuilder) -> Result<T, Refusal> {
        let answer = request.send().await.map_err(|error| away(&error))?;
        let status = answer.status();
        let bytes = whole(answer).await?;
        let body: Value = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        if !status.is_success() {
            return Err(refused(status, &body));
        }
        // Answers of the API are in an envelope.
        let data = match body {
            Value::Object(mut fields) if fields.get("success") == Some(&Value::Bool(true)) => {
                fields.remove("data").unwrap_or(Value::Null)
            }
            bare => bare,
        };
        serde_json::from_value(data).map_err(|error| {
            Refusal::Said(format!(
                "Godel's answer was not understood ({error}); is it another version?"
            ))
        })
    }
}

/// Says in words that nothing came, without the address: it may hold what is not for all.
fn away(error: &reqwest::Error) -> Refusal {
    Refusal::Away(
        if error.is_timeout() { "it did not answer in time" } else { "no connection" }.to_owned(),
    )
}

async fn whole(mut answer: Response) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::new();
    while let Some(piece) = answer.chunk().await.map_err(|error| away(&error))? {
        if bytes.len() + piece.len() > ANSWER_MAX_BYTES {
            return Err(Refusal::Said("Godel's answer is too long".to_owned()));
        }
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}

fn refused(status: StatusCode, body: &Value) -> Refusal {
    let error = &body["error"];
    let said = |name: &str| error[name].as_str().map(|text| clip(text, 4096));
    let Some(message) = said("message") else {
        let why = format!("it answered {}", status.as_u16());
        // What a starting or stopping server says is no answer to the question.
        return if status.is_server_error() { Refusal::Away(why) } else { Refusal::Said(why) };
    };
    let text = match said("hint") {
        Some(hint) => format!("{message}: {hint}"),
        None => message,
    };
    match status {
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::BAD_GATEWAY | StatusCode::GATEWAY_TIMEOUT => {
            Refusal::Away(text)
        }
        _ => Refusal::Said(text),
    }
}
