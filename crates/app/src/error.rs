//! What can go wrong in a use case.

use godel_model::{Code, EventId, Invalid, ProjectId, Report, TenantId, code};

/// The result of a use case.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong in a use case.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A value from outside does not fit.
    #[error(transparent)]
    Invalid(#[from] Invalid),
    /// The caller is not known.
    #[error("the caller is not known")]
    Unauthorized,
    /// The caller may not do this.
    #[error("this caller may not {0}")]
    Forbidden(&'static str),
    /// A login link was used before, or is too old.
    #[error("this login link was used before, or is too old")]
    LoginLink,
    /// There is no such project.
    #[error("there is no project {0}")]
    NoProject(ProjectId),
    /// Another project has this name.
    #[error("another project is called \"{0}\"")]
    ProjectNameTaken(String),
    /// Somebody else changed it in between.
    #[error("project {id} has version {found} by now, not {expected}")]
    ProjectVersion {
        /// The project.
        id: ProjectId,
        /// What the caller knew.
        expected: i64,
        /// What is stored.
        found: i64,
    },
    /// There is no such event.
    #[error("there is no event {0}")]
    NoEvent(EventId),
    /// There is no such tenant.
    #[error("there is no tenant {0}")]
    NoTenant(TenantId),
    /// Another tenant has this name.
    #[error("another tenant is called \"{0}\"")]
    TenantNameTaken(String),
    /// An idempotency key was used for another request.
    #[error("the Idempotency-Key was used before, for another request")]
    OnceKeyReused,
    /// The log does not add up to the tables.
    #[error("the event log of tenant {tenant} does not add up to its tables: {why}")]
    Disagreement {
        /// The tenant.
        tenant: TenantId,
        /// What differs.
        why: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] godel_store::Error),
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(invalid) => invalid.code(),
            Self::Unauthorized => code::UNAUTHORIZED,
            Self::Forbidden(_) => code::FORBIDDEN,
            Self::LoginLink => code::LOGIN_LINK_INVALID,
            Self::NoProject(_) => code::PROJECT_NOT_FOUND,
            Self::ProjectNameTaken(_) => code::PROJECT_NAME_TAKEN,
            Self::ProjectVersion { .. } => code::VERSION_MISMATCH,
            Self::NoEvent(_) => code::EVENT_NOT_FOUND,
            Self::NoTenant(_) => code::TENANT_NOT_FOUND,
            Self::TenantNameTaken(_) => code::TENANT_NAME_TAKEN,
            Self::OnceKeyReused => code::IDEMPOTENCY_KEY_REUSED,
            Self::Disagreement { .. } => code::DATABASE_CORRUPT,
            Self::Store(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Invalid(invalid) => return invalid.hint(),
            Self::Store(error) => return error.hint(),
            Self::Unauthorized => {
                "send an API key as `Authorization: Bearer godel_sk_..` or `X-API-Key`"
            }
            Self::Forbidden(_) => "use the owner's key of the server",
            Self::LoginLink => "`godel up` prints a new link each time it starts",
            Self::ProjectVersion { .. } => {
                "read the project again and repeat the change on that version"
            }
            Self::OnceKeyReused => "choose a new Idempotency-Key for each new request",
            Self::ProjectNameTaken(_) | Self::TenantNameTaken(_) => "choose another name",
            Self::Disagreement { .. } => {
                "stop godel, keep a copy of the database, and restore a backup with `godel restore`"
            }
            Self::NoProject(_) | Self::NoEvent(_) | Self::NoTenant(_) => return None,
        };
        Some(hint.to_owned())
    }
}
