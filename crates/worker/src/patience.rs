//! Asking a server again that does not answer for a while.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use godel_api::{Client, ClientError};
use godel_model::{Kind, Mint, Report as _};

use crate::notes::Notes;

/// The first pause, in milliseconds; it doubles each time.
const PAUSE_FIRST_MS: u64 = 250;
/// The longest pause, in milliseconds.
const PAUSE_LAST_MS: u64 = 10_000;

/// A server that may be gone for a while. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Patience {
    /// How to talk to it.
    pub client: Client,
    notes: Notes,
    /// Whether it does not answer at the moment, and people were told so.
    lost: Arc<AtomicBool>,
}

/// Tells whether the same call may succeed later.
pub(crate) fn may_pass(error: &ClientError) -> bool {
    match error {
        // A conflict passes only if somebody does something about it.
        ClientError::Refused { .. } => error.kind().retryable() && error.kind() != Kind::Conflict,
        // What stands in front of a server that starts may answer anything.
        ClientError::Unreachable { .. } | ClientError::Strange { .. } => true,
        ClientError::Untrusted { .. } | ClientError::Certificate(_) => false,
    }
}

/// The pauses between calls: longer each time, and half of each left to chance so that those who
/// lost a server together do not come back together.
#[derive(Debug, Default)]
pub(crate) struct Pauses(u32);

impl Pauses {
    /// Returns the next pause.
    pub(crate) fn next(&mut self) -> Duration {
        let whole = (PAUSE_FIRST_MS << self.0.min(16)).min(PAUSE_LAST_MS);
        self.0 = self.0.saturating_add(1);
        let chance = u64::from(Mint::system().bytes::<1>()[0]);
        Duration::from_millis(whole / 2 + whole / 2 * chance / 255)
    }
}

impl Patience {
    /// Takes a server that has answered.
    pub fn new(client: Client, notes: Notes) -> Self {
        Self { client, notes, lost: Arc::default() }
    }

    /// Calls until the server has answered, and returns what it did not refuse for now.
    ///
    /// # Errors
    /// If the server refuses it for good.
    pub async fn until_answered<T, F>(&self, call: impl Fn() -> F + Send) -> Result<T, ClientError>
    where
        F: Future<Output = Result<T, ClientError>> + Send,
    {
        let mut pauses = Pauses::default();
        loop {
            let answer = call().await;
            self.note(answer.as_ref().err());
            match answer {
                Err(error) if may_pass(&error) => tokio::time::sleep(pauses.next()).await,
                answer => return answer,
            }
        }
    }

    /// Tells people, once, that the server does not answer, or does so again.
    pub(crate) fn note(&self, error: Option<&ClientError>) {
        match error.filter(|error| may_pass(error)) {
            Some(error) => {
                if !self.lost.swap(true, Ordering::Relaxed) {
                    self.notes.remark(format_args!("{error}; trying again"));
                }
            }
            None => {
                if self.lost.swap(false, Ordering::Relaxed) {
                    self.notes.remark("connected again");
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use godel_api::ErrorBody;
    use godel_model::{Code, code};

    use super::*;

    fn refused(code: Code) -> ClientError {
        let (name, message) = (code.name().to_owned(), "no".to_owned());
        let body =
            Box::new(ErrorBody { code: name, message, hint: None, field: None, details: None });
        ClientError::Refused { body, code }
    }

    #[test]
    fn only_what_passes_by_itself_is_tried_again() {
        let passes =
            [code::RATE_LIMITED, code::SHUTTING_DOWN, code::COMMIT_UNKNOWN, code::DATABASE_FAILED];
        for code in passes {
            assert!(may_pass(&refused(code)), "{code}");
        }
        let stays = [
            code::TASK_LEASE_LOST,
            code::WORKER_NOT_FOUND,
            code::UNAUTHORIZED,
            code::FORBIDDEN,
            code::INVALID_FIELD,
        ];
        for code in stays {
            assert!(!may_pass(&refused(code)), "{code}");
        }
    }

    #[test]
    fn pauses_grow_to_their_limit_and_no_further() {
        let mut pauses = Pauses::default();
        let all: Vec<u64> = (0..100).map(|_| pauses.next().as_millis() as u64).collect();
        assert!((PAUSE_FIRST_MS / 2..=PAUSE_FIRST_MS).contains(&all[0]), "{all:?}");
        assert!(all[20..].iter().all(|one| (PAUSE_LAST_MS / 2..=PAUSE_LAST_MS).contains(one)));
    }
}
