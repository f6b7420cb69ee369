//! What the desk does not take.

use godel_store::Error;

use super::super::turn::TurnError;

/// Why something could not be brought to the desk.
#[derive(Debug)]
pub enum Refused {
    /// It makes no sense as things are.
    Turn(TurnError),
    /// The database failed.
    Store(Error),
    /// Too many wait already.
    Full,
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}
