//! The exit codes.

use std::process::ExitCode;

use godel_model::Kind;

/// How the program ends; scripts rely on the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Done = 0,
    /// It failed.
    Failure = 1,
    /// It was asked for in a wrong way.
    Usage = 2,
    /// There is no such thing.
    NotFound = 3,
    /// It is not possible in this state.
    Conflict = 4,
    /// The caller may not do this.
    Denied = 5,
    /// Something that is needed is not there at the moment.
    Unavailable = 6,
}

impl From<Kind> for Exit {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::InvalidRequest => Self::Usage,
            Kind::Unauthorized | Kind::Forbidden => Self::Denied,
            Kind::NotFound => Self::NotFound,
            Kind::Conflict => Self::Conflict,
            Kind::InternalError => Self::Failure,
            Kind::RateLimited | Kind::ServiceUnavailable | Kind::GatewayTimeout => {
                Self::Unavailable
            }
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

#[cfg(test)]
mod tests {
    use godel_model::code;

    use super::*;

    #[test]
    fn each_kind_of_failure_has_its_number() {
        for (code, number) in [
            (code::INTERNAL_ERROR, 1),
            (code::INVALID_REQUEST, 2),
            (code::INVALID_CONFIG, 2),
            (code::EVENT_NOT_FOUND, 3),
            (code::ADDRESS_IN_USE, 4),
            (code::DATA_DIR_LOCKED, 4),
            (code::UNAUTHORIZED, 5),
            (code::FORBIDDEN, 5),
            (code::RATE_LIMITED, 6),
            (code::SERVER_UNREACHABLE, 6),
            (code::REQUEST_TIMEOUT, 6),
        ] {
            assert_eq!(Exit::from(code.kind()) as u8, number, "{code}");
        }
    }
}
