//! What can go wrong in the store.

use std::path::PathBuf;

use godel_model::{Code, Report, code};

/// The result of a store call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A cause that is logged and never shown to a caller.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// What can go wrong in the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The database cannot be reached.
    #[error("the database cannot be reached")]
    Unavailable(#[source] Option<Cause>),
    /// The connection broke during a commit and its outcome could not be found out.
    #[error("the connection to the database broke while the change was being saved")]
    CommitUnknown(#[source] Option<Cause>),
    /// The disk is full.
    #[error("the disk that holds the database is full")]
    DiskFull,
    /// The database file is damaged.
    #[error("the database is damaged: {0}")]
    Corrupt(String),
    /// A row with this key is there already.
    #[error("a row with this key is there already")]
    Duplicate,
    /// A statement failed.
    #[error("the database refused the statement `{statement}`")]
    Failed {
        /// The name of the statement.
        statement: &'static str,
        /// What the engine said.
        #[source]
        cause: Cause,
    },
    /// A stored row cannot be read back.
    #[error("a stored {what} cannot be read")]
    Unreadable {
        /// What it should have been.
        what: &'static str,
        /// Why it is not.
        #[source]
        cause: Cause,
    },
    /// Another process uses the data directory.
    #[error("the data directory {} is in use by another godel ({holder})", dir.display())]
    Locked {
        /// The directory.
        dir: PathBuf,
        /// Who holds it.
        holder: String,
    },
    /// The schema was written by a newer Godel.
    #[error("the database has schema version {found}, this godel knows {known}")]
    SchemaNewer {
        /// The version in the database.
        found: i64,
        /// The version of this binary.
        known: i64,
    },
    /// A migration was changed after it had been applied, or failed.
    #[error("migration {version} ({name}) cannot be applied: {why}")]
    Migration {
        /// The version.
        version: i64,
        /// The name.
        name: String,
        /// What went wrong.
        why: String,
    },
    /// The server does not let this user into this database.
    #[error("the database server refused the connection: {0}")]
    Refused(String),
    /// The other side did not prove who it is, or does not speak TLS.
    #[error("the TLS connection to {who} failed: {why}")]
    Tls {
        /// The other side.
        who: &'static str,
        /// What is wrong.
        why: String,
    },
    /// The certificates to trust cannot be used.
    #[error(transparent)]
    Certificate(#[from] godel_tls::Error),
    /// A server still runs on the database.
    #[error("a running godel server uses the database")]
    InUse,
    /// The database user may not do what Godel needs.
    #[error("the database user may not {what}")]
    Privilege {
        /// What it may not do.
        what: String,
        /// The commands that an administrator runs once.
        remedy: String,
    },
    /// The database address is not understood.
    #[error("the database address is not understood: {0}")]
    BadUrl(String),
    /// A file could not be used.
    #[error("{} could not be used: {cause}", path.display())]
    File {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// There is no database at the address.
    #[error("there is no godel database at {0}")]
    NoDatabase(String),
    /// A backup is damaged, cut off, or no backup at all.
    #[error("the backup is damaged: {0}")]
    BackupDamaged(String),
    /// A backup could not be read or written.
    #[error("the backup could not be {done}")]
    BackupFile {
        /// What was tried.
        done: &'static str,
        /// Why it failed.
        #[source]
        cause: std::io::Error,
    },
    /// A backup has a schema that this Godel does not know.
    #[error(
        "the backup was made by godel {godel}: its schema has version {found}, this godel knows {known}"
    )]
    BackupNewer {
        /// The Godel that made it.
        godel: String,
        /// The version of its schema.
        found: i64,
        /// The version of this binary.
        known: i64,
    },
    /// A restore would overwrite data.
    #[error("{database} is not empty")]
    NotEmpty {
        /// The address of the database.
        database: String,
        /// What to do.
        remedy: String,
    },
    /// A file that would be overwritten is there already.
    #[error("{} is there already", .0.display())]
    FileExists(PathBuf),
    /// A tenant's row was asked for without a tenant.
    #[error("a tenant's data was asked for outside of any tenant")]
    NoTenant,
    /// A change was tried in a read.
    #[error("a change was tried in a read-only transaction")]
    ReadOnly,
    /// An act was to be recorded before the key of the record was there.
    #[error("the record of acts is locked: its key is not there")]
    NoAuditKey,
    /// The store was closed.
    #[error("the server is stopping")]
    Closed,
    /// The work on the transaction panicked; it was rolled back.
    #[error("the work on a transaction failed unexpectedly and was undone")]
    Panicked,
}

impl Error {
    /// Says the same to one more of those who waited for the same commit.
    #[must_use]
    pub fn again(&self) -> Self {
        match self {
            Self::CommitUnknown(_) => Self::CommitUnknown(None),
            Self::DiskFull => Self::DiskFull,
            Self::Corrupt(why) => Self::Corrupt(why.clone()),
            Self::Duplicate => Self::Duplicate,
            Self::Closed => Self::Closed,
            other => Self::Unavailable(Some(other.to_string().into())),
        }
    }
}

impl Report for Error {
    fn code(&self) -> Code {
        match self {
            Self::Unavailable(_) => code::DATABASE_UNAVAILABLE,
            Self::CommitUnknown(_) => code::COMMIT_UNKNOWN,
            Self::DiskFull => code::DISK_FULL,
            Self::Corrupt(_) | Self::Unreadable { .. } => code::DATABASE_CORRUPT,
            Self::Duplicate | Self::Failed { .. } | Self::Migration { .. } => code::DATABASE_FAILED,
            Self::Locked { .. } | Self::InUse => code::DATA_DIR_LOCKED,
            Self::SchemaNewer { .. } | Self::BackupNewer { .. } => code::SCHEMA_MISMATCH,
            Self::BackupDamaged(_) => code::BACKUP_DAMAGED,
            Self::NotEmpty { .. } => code::DATABASE_NOT_EMPTY,
            Self::FileExists(_) => code::FILE_EXISTS,
            Self::Privilege { .. } | Self::BadUrl(_) | Self::Refused(_) => code::INVALID_CONFIG,
            Self::Tls { .. } => code::CERTIFICATE_UNTRUSTED,
            Self::Certificate(_) => code::CERTIFICATE_INVALID,
            Self::File { .. } | Self::BackupFile { .. } | Self::NoDatabase(_) => code::FILE_FAILED,
            Self::NoTenant | Self::ReadOnly | Self::NoAuditKey | Self::Panicked => {
                code::INTERNAL_ERROR
            }
            Self::Closed => code::SHUTTING_DOWN,
        }
    }

    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Unavailable(_) => {
                "check that the database is running and that its address is right; `godel doctor` tells more"
            }
            Self::CommitUnknown(_) => {
                "send the same request again with the same Idempotency-Key: it is carried out once at most"
            }
            Self::DiskFull => "free some space; nothing that was answered is lost",
            Self::Corrupt(_) | Self::Unreadable { .. } => {
                "stop godel, keep a copy of the data directory, and use `godel restore`"
            }
            Self::Locked { .. } => "stop the other one, or choose another directory with --data",
            Self::SchemaNewer { .. } => {
                "use the newer godel, or let it go back first with `godel db migrate --to VERSION`"
            }
            Self::BadUrl(_) => {
                "use sqlite:///path/to/godel.db or postgres://user@host:5432/database"
            }
            Self::Refused(_) => {
                "check the database's name, user and password; `createdb NAME` makes a missing one"
            }
            Self::Tls { why, .. } if why.contains("does not support TLS") => {
                "switch TLS on in PostgreSQL (`ssl = on`), or do without: remove `sslmode`"
            }
            Self::Tls { .. } => {
                "name the authority that signed its certificate, as in \
                 ?sslmode=verify-full&sslrootcert=/path/ca.pem"
            }
            Self::Certificate(_) => "name a PEM file that holds the authority's certificate",
            Self::InUse => "stop every godel server on this database first",
            Self::BackupDamaged(_) => {
                "take another backup: an older one, or a copy from another place"
            }
            Self::BackupFile { .. } => "check the free space, and that you may use the file",
            Self::BackupNewer { .. } => "restore it with that godel or a newer one",
            Self::FileExists(_) => "choose another name, or overwrite it with --force",
            Self::NoDatabase(_) => "name the right place with --data DIR or --database URL",
            Self::Privilege { remedy, .. } | Self::NotEmpty { remedy, .. } => {
                return Some(remedy.clone());
            }
            Self::Duplicate
            | Self::Failed { .. }
            | Self::Migration { .. }
            | Self::File { .. }
            | Self::NoTenant
            | Self::ReadOnly
            | Self::NoAuditKey
            | Self::Closed
            | Self::Panicked => return None,
        };
        Some(hint.to_owned())
    }
}

impl Error {
    /// Wraps what a SQLite call said, under the name of the statement.
    pub(crate) fn sqlite(statement: &'static str, cause: rusqlite::Error) -> Self {
        use rusqlite::ffi::ErrorCode;
        let Some(error) = cause.sqlite_error() else {
            return Self::Failed { statement, cause: cause.into() };
        };
        match (error.code, error.extended_code) {
            (ErrorCode::ConstraintViolation, 1555 | 2067) => Self::Duplicate,
            (ErrorCode::DiskFull, _) => Self::DiskFull,
            (ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase, _) => {
                Self::Corrupt(cause.to_string())
            }
            _ => Self::Failed { statement, cause: cause.into() },
        }
    }

    /// Wraps what a PostgreSQL call said, under the name of the statement.
    pub(crate) fn postgres(statement: &'static str, cause: ::postgres::Error) -> Self {
        use ::postgres::error::SqlState;
        match cause.code() {
            Some(&SqlState::UNIQUE_VIOLATION) => Self::Duplicate,
            Some(&SqlState::DISK_FULL) => Self::DiskFull,
            Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED) => {
                Self::Corrupt(cause.to_string())
            }
            Some(state) if is_shutdown(state) => Self::Unavailable(Some(cause.into())),
            Some(_) => Self::Failed { statement, cause: cause.into() },
            None => Self::Unavailable(Some(cause.into())),
        }
    }
}

/// Tells whether the server said that it is going away or not there yet.
pub(crate) fn is_shutdown(state: &::postgres::error::SqlState) -> bool {
    use ::postgres::error::SqlState;
    [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::TOO_MANY_CONNECTIONS,
        SqlState::CONNECTION_EXCEPTION,
        SqlState::CONNECTION_DOES_NOT_EXIST,
        SqlState::CONNECTION_FAILURE,
    ]
    .contains(state)
}
