//! The plan: by a model through the proxy if there is one, else by the rules.

use std::time::Duration;

use godel_app::Call;
use godel_app::spend::tokens::{self, NewToken};
use godel_fleet::Fleet;
use godel_intent::model_plan;
use godel_intent::plan::{Plan, Problem};
use godel_intent::rules;
use godel_llm::translate::talk::{Item, Talk};
use godel_model::{ProjectId, Survey};
use jiff::SignedDuration;
use secrecy::SecretString;

use super::doc::{PlannedBy, Source};
use crate::{Error, Result};

/// How long a model may think about a plan in all; the request of the caller waits meanwhile.
const PATIENCE: Duration = Duration::from_secs(24);
/// How often it is asked.
const TRIES: u32 = 2;
/// The most that it may answer, in tokens.
const OUTPUT_MAX: u64 = 8_000;
/// How long the token of a planning lives, whatever happens to the server.
const TOKEN_SECS: i64 = 120;

/// What is to be planned.
pub(super) struct Asking<'a> {
    pub(super) text: &'a str,
    pub(super) survey: &'a Survey,
    pub(super) score: f64,
    pub(super) roles: &'a [String],
    pub(super) project: ProjectId,
    /// The convoy that it will be; the planning is paid from its budget.
    pub(super) convoy: &'a str,
    /// The model to ask, or why none is asked.
    pub(super) model: std::result::Result<String, String>,
}

/// Makes a plan, whatever a model says.
pub(super) async fn plan(fleet: &Fleet, call: &Call, asking: &Asking<'_>) -> (Plan, PlannedBy) {
    let by_rules = || {
        let Asking { text, survey, score, roles, .. } = *asking;
        rules::plan(&rules::Brief { text, survey, score, roles })
    };
    let rules_said = |model: Option<String>, tries: u32, why: String| {
        (by_rules(), PlannedBy { by: Source::Rules, model, tries, why: Some(why) })
    };
    let model = match &asking.model {
        Ok(model) => model.clone(),
        Err(why) => return rules_said(None, 0, why.clone()),
    };
    let mut tries = 0;
    let asked =
        tokio::time::timeout(PATIENCE, by_model(fleet, call, asking, &model, &mut tries)).await;
    match asked {
        Ok(Ok(plan)) => {
            (plan, PlannedBy { by: Source::Model, model: Some(model), tries, why: None })
        }
        Ok(Err(why)) => rules_said(Some(model), tries, why),
        Err(_) => {
            let why = format!("{model} did not answer within {} seconds", PATIENCE.as_secs());
            rules_said(Some(model), tries, why)
        }
    }
}

/// Asks a model, a second time with what was wrong; says why there is no plan.
async fn by_model(
    fleet: &Fleet,
    call: &Call,
    asking: &Asking<'_>,
    model: &str,
    tries: &mut u32,
) -> std::result::Result<Plan, String> {
    let token = Token::make(fleet, call, asking).await.map_err(|error| error.to_string())?;
    let line = fleet.line(token.secret.clone());
    let config = fleet.app().switchboard.config();
    let dialect = config.own_dialect(model);
    let Asking { text, survey, roles, .. } = *asking;
    let prompt = model_plan::prompt(&model_plan::Brief { text, survey, roles });
    let mut items = vec![Item::User { text: prompt.user }];
    let mut why = String::new();
    while *tries < TRIES {
        *tries += 1;
        let talk = Talk {
            dialect,
            model,
            think: false,
            max_output: OUTPUT_MAX,
            system: &prompt.system,
            tools: &[],
            items: &items,
        };
        let answer = match line.answer(&talk).await {
            Ok(answer) => answer,
            Err(silence) => {
                why = silence;
                break;
            }
        };
        match model_plan::read(&answer, roles) {
            Ok(plan) => {
                token.end(fleet, call).await;
                return Ok(plan);
            }
            Err(problems) => {
                why = format!("the plan of {model} could not be used: {}", first(&problems));
                items.push(Item::Model { text: answer });
                items.push(Item::User { text: model_plan::again(&problems) });
            }
        }
    }
    token.end(fleet, call).await;
    Err(why)
}

fn first(problems: &[Problem]) -> String {
    problems.first().map(ToString::to_string).unwrap_or_default()
}

/// The token by which a plan is asked for.
struct Token {
    id: godel_model::TokenId,
    secret: SecretString,
}

impl Token {
    async fn make(fleet: &Fleet, call: &Call, asking: &Asking<'_>) -> Result<Self> {
        let app = fleet.app();
        let new = NewToken {
            name: "the plan of an intent".to_owned(),
            project: Some(asking.project),
            agent: Some("planner".to_owned()),
            convoy: Some(asking.convoy.to_owned()),
            expires_at: app.clock.now().checked_add(SignedDuration::from_secs(TOKEN_SECS)).ok(),
            ..NewToken::default()
        };
        // The key of the request is for the intent; this token is another thing.
        let call = Call { once: None, ..call.clone() };
        let (token, record) = tokens::create(app, &call, new).await?;
        let token = token.ok_or_else(|| Error::Paper("no token was made".to_owned()))?;
        Ok(Self { id: record.id, secret: SecretString::from(token.expose().to_owned()) })
    }

    /// Ends it; one that is left over ends by itself.
    async fn end(&self, fleet: &Fleet, call: &Call) {
        let call = Call { once: None, ..call.clone() };
        if let Err(error) = tokens::revoke(fleet.app(), &call, self.id).await {
            tracing::debug!(%error, "the token of a planning was not revoked");
        }
    }
}
