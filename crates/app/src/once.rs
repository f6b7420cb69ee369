//! Carrying a request out once at most.

use godel_store::{Claim, Tx, Written};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{App, Call, Error, Result};

/// What a request that is carried out once brought.
pub(crate) enum Outcome<T> {
    /// It was carried out now.
    Fresh(Written<T>),
    /// It was carried out before, with this result.
    Known(T),
}

/// Runs work as one transaction, once for each idempotency key of the call.
pub(crate) async fn once<T, F>(app: &App, call: &Call, work: F) -> Result<Outcome<T>>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    F: Fn(&mut Tx<'_>) -> Result<T> + Clone + Send + 'static,
{
    match attempt(app, call, work.clone()).await {
        // Twice at the same moment: the other one was first, so its result is there now.
        Err(Error::Store(godel_store::Error::Duplicate)) if call.once.is_some() => {
            attempt(app, call, work).await
        }
        other => other,
    }
}

async fn attempt<T, F>(app: &App, call: &Call, work: F) -> Result<Outcome<T>>
where
    T: Serialize + DeserializeOwned + Send + 'static,
    F: Fn(&mut Tx<'_>) -> Result<T> + Send + 'static,
{
    let (key, now) = (call.once.clone(), app.clock.now());
    let written = app
        .store
        .write(call.scope(), move |tx| {
            let Some(once) = &key else {
                return Ok((work(tx)?, true));
            };
            match tx.idempotency().claim(&once.key, &once.fingerprint)? {
                Claim::Reused => Err(Error::OnceKeyReused),
                Claim::Known(result) => Ok((read(&result)?, false)),
                Claim::Fresh => {
                    let value = work(tx)?;
                    let result = serde_json::to_string(&value).map_err(unreadable)?;
                    tx.idempotency().settle(&once.key, &once.fingerprint, &result, now)?;
                    Ok((value, true))
                }
            }
        })
        .await?;
    let Written { value: (value, fresh), events } = written;
    Ok(if fresh { Outcome::Fresh(Written { value, events }) } else { Outcome::Known(value) })
}

fn read<T: DeserializeOwned>(result: &str) -> Result<T> {
    serde_json::from_str(result).map_err(unreadable)
}

fn unreadable(cause: serde_json::Error) -> Error {
    godel_store::Error::Unreadable { what: "result of an earlier request", cause: cause.into() }
        .into()
}
