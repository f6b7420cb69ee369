//! What can go wrong in a use case.

use godel_model::{
    BudgetId, CallId, Code, EventId, Invalid, KeyId, Need, ProjectId, Report, Seq, TenantId,
    TokenId, code,
};

use crate::queue::QueueError;
use crate::workflows::WorkflowError;

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
    #[error("this needs the permission {0}, which the caller does not have")]
    Forbidden(Need),
    /// A key that is narrowed was used for what only its user may do.
    #[error("a key with scopes cannot log in, make keys or change accounts")]
    NarrowKey,
    /// The token is that of an agent that has ended.
    #[error("the agent of this token has ended, stands still or goes on with another token")]
    AgentEnded,
    /// Name or password are wrong.
    #[error("name or password are wrong")]
    WrongPassword,
    /// Too many failures.
    #[error("there were too many attempts")]
    Throttled {
        /// After how many milliseconds the next one may be made.
        retry_ms: u64,
    },
    /// No program waits with this code.
    #[error("no program waits with this code; it may have waited too long")]
    DeviceCode,
    /// A person did not let the program in.
    #[error("this program was not let in")]
    DeviceRefused,
    /// There is no such user.
    #[error("there is no user {0}")]
    NoUser(String),
    /// Another user has this name.
    #[error("another user is called \"{0}\"")]
    UserNameTaken(String),
    /// It is the last admin.
    #[error("this is the last admin of the tenant")]
    LastAdmin,
    /// There is no such key.
    #[error("there is no API key {0}, or it has ended")]
    NoKey(KeyId),
    /// The user has as many keys as a user can have.
    #[error("a user can have at most {} keys that work", crate::keys::KEYS_MAX)]
    TooManyKeys,
    /// The account has a password, and it was not given.
    #[error("this account has a password, and it was not given")]
    NoCurrentPassword,
    /// There is no such token of an agent.
    #[error("there is no agent token {0}, or it has ended")]
    NoToken(TokenId),
    /// There is no such budget.
    #[error("there is no budget {0}")]
    NoBudget(BudgetId),
    /// There is no such request to a model.
    #[error("there is no request {0} to a model")]
    NoCall(CallId),
    /// What was said in a request was not kept.
    #[error("what was said in the request {0} was not kept")]
    NoBody(CallId),
    /// There is no such provider of models.
    #[error("there is no provider called \"{0}\"")]
    NoProvider(String),
    /// There is no such secret.
    #[error("there is no secret called \"{0}\"")]
    NoSecret(String),
    /// The master key is another one.
    #[error("the master key {given} does not open this database, which needs {needed}")]
    MasterKey {
        /// The one that was given.
        given: String,
        /// The one that is needed.
        needed: String,
    },
    /// An encrypted value is damaged.
    #[error("an encrypted value ({0}) cannot be read")]
    Undecipherable(String),
    /// The first tenant is not there.
    #[error("the first tenant is not there")]
    NoHome,
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
    #[error("project {id} has version {found} by now, which the request does not expect")]
    ProjectVersion {
        /// The project.
        id: ProjectId,
        /// What is stored.
        found: i64,
    },
    /// There is no such event.
    #[error("there is no event {0}")]
    NoEvent(EventId),
    /// A reader wants to go on behind a position that the log has not reached.
    #[error("the log ends at {end}, before {after}; this may be another log")]
    BeyondLog {
        /// Where the reader wants to go on.
        after: Seq,
        /// The newest position.
        end: Seq,
    },
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
    /// A project has no repository.
    #[error("project {0} has no repository")]
    NoRepository(ProjectId),
    /// Something cannot be done with tasks, workers or schedules.
    #[error(transparent)]
    Queue(#[from] QueueError),
    /// Something cannot be done with workflows, runs or teams.
    #[error(transparent)]
    Workflow(#[from] WorkflowError),
    /// Something is wrong with beads.
    #[error(transparent)]
    Beads(godel_beads::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] godel_store::Error),
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Invalid(invalid) => invalid.code(),
            Self::Unauthorized => code::UNAUTHORIZED,
            Self::Forbidden(_) | Self::NarrowKey => code::FORBIDDEN,
            Self::AgentEnded => code::AGENT_ENDED,
            Self::WrongPassword => code::WRONG_PASSWORD,
            Self::Throttled { .. } => code::RATE_LIMITED,
            Self::DeviceCode => code::DEVICE_CODE_INVALID,
            Self::DeviceRefused => code::DEVICE_REFUSED,
            Self::NoUser(_) => code::USER_NOT_FOUND,
            Self::UserNameTaken(_) => code::USER_NAME_TAKEN,
            Self::LastAdmin => code::LAST_ADMIN,
            Self::NoKey(_) => code::KEY_NOT_FOUND,
            Self::TooManyKeys => code::TOO_MANY_KEYS,
            Self::NoCurrentPassword => code::CURRENT_PASSWORD_NEEDED,
            Self::NoToken(_) => code::TOKEN_NOT_FOUND,
            Self::NoBudget(_) => code::BUDGET_NOT_FOUND,
            Self::NoCall(_) => code::CALL_NOT_FOUND,
            Self::NoBody(_) => code::BODY_NOT_KEPT,
            Self::NoProvider(_) => code::PROVIDER_NOT_FOUND,
            Self::NoSecret(_) => code::SECRET_NOT_FOUND,
            Self::MasterKey { .. } => code::MASTER_KEY_WRONG,
            Self::Undecipherable(_) => code::DATABASE_CORRUPT,
            Self::NoHome => code::INTERNAL_ERROR,
            Self::LoginLink => code::LOGIN_LINK_INVALID,
            Self::NoProject(_) => code::PROJECT_NOT_FOUND,
            Self::ProjectNameTaken(_) => code::PROJECT_NAME_TAKEN,
            Self::ProjectVersion { .. } => code::VERSION_MISMATCH,
            Self::NoEvent(_) => code::EVENT_NOT_FOUND,
            Self::BeyondLog { .. } => code::INVALID_CURSOR,
            Self::NoTenant(_) => code::TENANT_NOT_FOUND,
            Self::TenantNameTaken(_) => code::TENANT_NAME_TAKEN,
            Self::OnceKeyReused => code::IDEMPOTENCY_KEY_REUSED,
            Self::Disagreement { .. } => code::DATABASE_CORRUPT,
            Self::NoRepository(_) => code::NO_REPOSITORY,
            Self::Beads(error) => error.code(),
            Self::Queue(error) => error.code(),
            Self::Workflow(error) => error.code(),
            Self::Store(error) => error.code(),
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::Invalid(invalid) => invalid.field(),
            Self::UserNameTaken(_) | Self::ProjectNameTaken(_) | Self::TenantNameTaken(_) => {
                Some("name")
            }
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Invalid(invalid) => return invalid.hint(),
            Self::Queue(error) => return error.hint(),
            Self::Workflow(error) => return error.hint(),
            Self::Store(error) => return error.hint(),
            Self::Beads(error) => return error.hint(),
            Self::NoRepository(_) => "give it one: godel project update NAME --repository PATH",
            Self::Unauthorized => {
                "send an API key as `Authorization: Bearer godel_sk_..` or `X-API-Key`"
            }
            Self::Forbidden(_) => "ask an admin for another role, or use a key with more scopes",
            Self::NarrowKey => "use a key without scopes, or log in",
            Self::AgentEnded => "see what became of it with `godel agent show`",
            Self::WrongPassword => {
                "ask an admin for a new login link if you forgot it: godel user link NAME"
            }
            Self::Throttled { .. } => "wait a moment, then try again",
            Self::DeviceCode => "run `godel login` again, and enter the code within ten minutes",
            Self::LastAdmin => "make somebody else an admin first: godel user role NAME admin",
            Self::UserNameTaken(_) => "choose another name",
            Self::TooManyKeys => {
                "revoke one that is not needed: godel key list, godel key revoke KEY"
            }
            Self::NoCurrentPassword => {
                "give it as `currentPassword`; if it is forgotten, an admin makes a new login \
                 link: godel user link NAME"
            }
            Self::MasterKey { .. } => {
                "put the right key into master.key in the data directory, or into GODEL_MASTER_KEY"
            }
            Self::Undecipherable(_) => "restore a backup, and use the master key of its time",
            Self::DeviceRefused
            | Self::NoUser(_)
            | Self::NoKey(_)
            | Self::NoToken(_)
            | Self::NoBudget(_)
            | Self::NoSecret(_)
            | Self::NoHome => return None,
            Self::NoCall(_) => "`godel calls` lists the newest ones",
            Self::NoBody(_) => "`[capture]` in proxy.toml lets bodies be kept from now on",
            Self::NoProvider(_) => "`godel provider list` shows all of them",
            Self::LoginLink => {
                "`godel up` prints a new link each time it starts; an admin makes one with \
                 godel user link NAME"
            }
            Self::ProjectVersion { .. } => {
                "read the project again and repeat the change on that version"
            }
            Self::BeyondLog { .. } => {
                "begin again at 0, or without a position to follow from now on"
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

impl Error {
    /// Says that a value from outside does not fit.
    pub fn invalid(why: &str) -> Self {
        Self::Invalid(Invalid::new(code::INVALID_FIELD, why))
    }

    pub(crate) fn invalid_at(field: &'static str, why: &str) -> Self {
        Self::Invalid(Invalid::new(code::INVALID_FIELD, why).with_field(field))
    }
}
