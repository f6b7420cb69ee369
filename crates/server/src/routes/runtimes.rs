//! Places where agents work, and whether they work right now.

use axum::Json;
use axum::extract::State;
use axum::response::IntoResponse;
use godel_api::{DoctorCheck, RuntimeInfo, RuntimeList, RuntimeTest, Success};
use godel_board::doctor::{Finding, Verdict};
use godel_board::runtimes::{self, Runtime};
use serde::Serialize;

use crate::error::ApiResult;
use crate::extract::Word;
use crate::guard::Caller;
use crate::state::Shared;

/// The name of something that is written as one word.
fn word(value: impl Serialize) -> Option<String> {
    let value = serde_json::to_value(value).ok()?;
    value.as_str().map(ToOwned::to_owned)
}

fn shape(Runtime { name, about, offered, hourly }: Runtime) -> RuntimeInfo {
    RuntimeInfo {
        name: name.to_owned(),
        about: about.to_owned(),
        offered: offered.is_some(),
        isolation: offered.and_then(|can| word(can.isolation)),
        snapshot: offered.and_then(|can| word(can.snapshot)),
        pause: offered.and_then(|can| word(can.pause)),
        network: offered.and_then(|can| word(can.network)),
        hour_micros: hourly,
    }
}

/// List runtimes
///
/// Places where agents can work, which of them this server offers, and what they cost.
#[utoipa::path(get, path = "/runtimes", tag = "agents", operation_id = "listRuntimes",
    responses((status = 200, description = "The runtimes", body = Success<RuntimeList>)))]
pub(crate) async fn list(
    State(shared): State<Shared>,
    caller: Caller,
) -> ApiResult<impl IntoResponse> {
    let found = runtimes::list(&shared.fleet, &caller.call).await?;
    let items = found.runtimes.into_iter().map(shape).collect();
    let list = RuntimeList { items, storage_gb_month_micros: found.storage };
    Ok(Json(Success::new(list)))
}

/// Try a runtime
///
/// The checks of `godel doctor` that agents depend on, on the machine of the server: git, walls, a kernel of
/// their own, agent programs. It takes half a minute at most and changes nothing. For admins of the server.
#[utoipa::path(post, path = "/runtimes/{name}/test", tag = "agents", operation_id = "testRuntime",
    params(("name" = String, Path, description = "worktree or gvisor")),
    responses((status = 200, description = "What was found", body = Success<RuntimeTest>)))]
pub(crate) async fn test(
    State(shared): State<Shared>,
    caller: Caller,
    Word(name): Word,
) -> ApiResult<impl IntoResponse> {
    let found = runtimes::test(&shared.fleet, &caller.call, &name).await?;
    let ok = found.iter().all(|finding| finding.status != Verdict::Fail);
    let check = |Finding { name, status, message, hint }: Finding| DoctorCheck {
        name: name.to_owned(),
        status: status.as_str().to_owned(),
        message,
        hint,
    };
    let checks = found.into_iter().map(check).collect();
    Ok(Json(Success::new(RuntimeTest { name, ok, checks })))
}
