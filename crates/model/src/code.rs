//! The stable error codes. Each has a page `docs/errors/<code>.md`, shown by `godel explain`.

use std::fmt;

use crate::Kind;

/// A stable, lower snake case error code; it decides the [`Kind`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Code {
    name: &'static str,
    kind: Kind,
}

impl Code {
    /// Returns the code as text.
    pub const fn name(self) -> &'static str {
        self.name
    }

    /// Returns the kind of failure.
    pub const fn kind(self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! codes {
    ($($(#[$doc:meta])+ $constant:ident = $name:literal, $kind:ident;)+) => {
        $($(#[$doc])+ pub const $constant: Code = Code { name: $name, kind: Kind::$kind };)+

        /// Every code that Godel can return.
        pub const ALL: &[Code] = &[$($constant),+];
    };
}

codes! {
    /// The request is wrong in a way that has no code of its own.
    INVALID_REQUEST = "invalid_request", InvalidRequest;
    /// The body is not JSON.
    INVALID_JSON = "invalid_json", InvalidRequest;
    /// A field is missing, unknown or of the wrong type.
    INVALID_FIELD = "invalid_field", InvalidRequest;
    /// An id is not a UUID.
    INVALID_ID = "invalid_id", InvalidRequest;
    /// A query parameter is not understood.
    INVALID_QUERY = "invalid_query", InvalidRequest;
    /// A cursor was not made by this list.
    INVALID_CURSOR = "invalid_cursor", InvalidRequest;
    /// An event type is not of the form `noun:verb`.
    INVALID_EVENT_TYPE = "invalid_event_type", InvalidRequest;
    /// An event type belongs to Godel itself.
    EVENT_TYPE_RESERVED = "event_type_reserved", InvalidRequest;
    /// A subscription pattern is malformed.
    INVALID_PATTERN = "invalid_pattern", InvalidRequest;
    /// A name is empty, too long or has characters that names cannot have.
    INVALID_NAME = "invalid_name", InvalidRequest;
    /// A header is malformed.
    INVALID_HEADER = "invalid_header", InvalidRequest;
    /// The body is larger than the limit.
    BODY_TOO_LARGE = "body_too_large", InvalidRequest;
    /// The body is not declared as JSON.
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type", InvalidRequest;
    /// The path exists, but not for this method.
    METHOD_NOT_ALLOWED = "method_not_allowed", InvalidRequest;
    /// The request took longer to arrive or to be answered than allowed.
    REQUEST_TIMEOUT = "request_timeout", GatewayTimeout;
    /// An `Idempotency-Key` was used before for another request.
    IDEMPOTENCY_KEY_REUSED = "idempotency_key_reused", Conflict;
    /// The caller is not known.
    UNAUTHORIZED = "unauthorized", Unauthorized;
    /// A login link was used before, or is too old.
    LOGIN_LINK_INVALID = "login_link_invalid", Unauthorized;
    /// Name or password are wrong.
    WRONG_PASSWORD = "wrong_password", Unauthorized;
    /// The account has a password, which is needed to set another.
    CURRENT_PASSWORD_NEEDED = "current_password_needed", InvalidRequest;
    /// No program waits with this code.
    DEVICE_CODE_INVALID = "device_code_invalid", Unauthorized;
    /// A person did not let the program in.
    DEVICE_REFUSED = "device_refused", Forbidden;
    /// The caller may not do this.
    FORBIDDEN = "forbidden", Forbidden;
    /// A browser sent a changing request without proof that it came from the dashboard.
    CSRF_REFUSED = "csrf_refused", Forbidden;
    /// The `Host` header does not name this server.
    HOST_REFUSED = "host_refused", Forbidden;
    /// There is no such path.
    ROUTE_NOT_FOUND = "route_not_found", NotFound;
    /// There is no such project.
    PROJECT_NOT_FOUND = "project_not_found", NotFound;
    /// There is no such event.
    EVENT_NOT_FOUND = "event_not_found", NotFound;
    /// There is no such tenant.
    TENANT_NOT_FOUND = "tenant_not_found", NotFound;
    /// There is no such user.
    USER_NOT_FOUND = "user_not_found", NotFound;
    /// There is no such API key.
    KEY_NOT_FOUND = "key_not_found", NotFound;
    /// There is no such token of an agent.
    TOKEN_NOT_FOUND = "token_not_found", NotFound;
    /// There is no such budget.
    BUDGET_NOT_FOUND = "budget_not_found", NotFound;
    /// There is no such task.
    TASK_NOT_FOUND = "task_not_found", NotFound;
    /// The task is not in a state in which this can be done.
    TASK_STATE = "task_state", Conflict;
    /// The task would wait for one that will not succeed.
    DEPENDENCY_FAILED = "dependency_failed", Conflict;
    /// There are too many pools, or too many sets of capabilities in a pool.
    TOO_MANY_LINES = "too_many_lines", Conflict;
    /// The worker does not have this attempt of the task any more.
    TASK_LEASE_LOST = "task_lease_lost", Conflict;
    /// There is no such worker, or it was silent for too long.
    WORKER_NOT_FOUND = "worker_not_found", NotFound;
    /// There is no such workflow.
    WORKFLOW_NOT_FOUND = "workflow_not_found", NotFound;
    /// Another workflow has this name.
    WORKFLOW_NAME_TAKEN = "workflow_name_taken", Conflict;
    /// The text is no workflow.
    INVALID_WORKFLOW = "invalid_workflow", InvalidRequest;
    /// There is no such run of a workflow, or no such step of it.
    RUN_NOT_FOUND = "run_not_found", NotFound;
    /// The run or team is not in a state in which this can be done.
    RUN_STATE = "run_state", Conflict;
    /// There is no such team.
    TEAM_NOT_FOUND = "team_not_found", NotFound;
    /// There is no such agent.
    AGENT_NOT_FOUND = "agent_not_found", NotFound;
    /// The agent has ended, and its token with it.
    AGENT_ENDED = "agent_ended", Forbidden;
    /// The agent is not in a state in which this can be done.
    AGENT_STATE = "agent_state", Conflict;
    /// Somebody else has control of the agent.
    CONTROL_HELD = "control_held", Conflict;
    /// Another agent has this name.
    AGENT_NAME_TAKEN = "agent_name_taken", Conflict;
    /// The program of an agent is not on this machine.
    HARNESS_NOT_FOUND = "harness_not_found", Conflict;
    /// No model was named, and none is set.
    MODEL_NEEDED = "model_needed", InvalidRequest;
    /// There is no such conversation.
    SESSION_NOT_FOUND = "session_not_found", NotFound;
    /// There is no such notice.
    NOTICE_NOT_FOUND = "notice_not_found", NotFound;
    /// There is no such intent.
    INTENT_NOT_FOUND = "intent_not_found", NotFound;
    /// An intent is in a state that does not allow this.
    INTENT_STATE = "intent_state", Conflict;
    /// The budget would not last for the plan.
    BUDGET_TOO_SMALL = "budget_too_small", Conflict;
    /// There are no attempts at a bead, or not so many.
    ATTEMPT_NOT_FOUND = "attempt_not_found", NotFound;
    /// There is no such preview, or it ended long ago.
    PREVIEW_NOT_FOUND = "preview_not_found", NotFound;
    /// There is no such view of the caller's.
    VIEW_NOT_FOUND = "view_not_found", NotFound;
    /// Attempts cannot begin, or one cannot be picked, as things are.
    ATTEMPT_REFUSED = "attempt_refused", Conflict;
    /// There is no such role.
    ROLE_NOT_FOUND = "role_not_found", NotFound;
    /// Nobody of this name gets mail, or the box is full.
    MAIL_REFUSED = "mail_refused", Conflict;
    /// Everything was told to stand still.
    STOPPED = "stopped", Conflict;
    /// The work of a bead cannot get into its branch as it is.
    LANDING_REFUSED = "landing_refused", Conflict;
    /// A bead is not in the merge queue.
    LANDING_NOT_FOUND = "landing_not_found", NotFound;
    /// A bead has no work that could be reviewed.
    REVIEW_NOT_FOUND = "review_not_found", NotFound;
    /// Something cannot be decided or done in a review as it stands.
    REVIEW_REFUSED = "review_refused", Conflict;
    /// There is no such schedule.
    SCHEDULE_NOT_FOUND = "schedule_not_found", NotFound;
    /// Another schedule has this name.
    SCHEDULE_NAME_TAKEN = "schedule_name_taken", Conflict;
    /// There is no such request to a model.
    CALL_NOT_FOUND = "call_not_found", NotFound;
    /// What was asked and answered in a request was not kept.
    BODY_NOT_KEPT = "body_not_kept", NotFound;
    /// There is no such provider of models.
    PROVIDER_NOT_FOUND = "provider_not_found", NotFound;
    /// There is no such secret.
    SECRET_NOT_FOUND = "secret_not_found", NotFound;
    /// No page explains this code.
    CODE_NOT_FOUND = "code_not_found", NotFound;
    /// Another project has this name.
    PROJECT_NAME_TAKEN = "project_name_taken", Conflict;
    /// Another tenant has this name.
    TENANT_NAME_TAKEN = "tenant_name_taken", Conflict;
    /// Another user has this name.
    USER_NAME_TAKEN = "user_name_taken", Conflict;
    /// The tenant would have no admin left.
    LAST_ADMIN = "last_admin", Conflict;
    /// The user has as many API keys as a user can have.
    TOO_MANY_KEYS = "too_many_keys", Conflict;
    /// The thing was changed by somebody else in between.
    VERSION_MISMATCH = "version_mismatch", Conflict;
    /// Another process uses the data directory.
    DATA_DIR_LOCKED = "data_dir_locked", Conflict;
    /// Data would be overwritten by a restore.
    DATABASE_NOT_EMPTY = "database_not_empty", Conflict;
    /// A file that would be overwritten is there already.
    FILE_EXISTS = "file_exists", Conflict;
    /// Another program listens on the address.
    ADDRESS_IN_USE = "address_in_use", Conflict;
    /// Too many requests.
    RATE_LIMITED = "rate_limited", RateLimited;
    /// Too many WebSockets and streams at once.
    TOO_MANY_CONNECTIONS = "too_many_connections", RateLimited;
    /// Something failed inside Godel.
    INTERNAL_ERROR = "internal_error", InternalError;
    /// The database was written by another version of Godel.
    SCHEMA_MISMATCH = "schema_mismatch", InternalError;
    /// The database failed.
    DATABASE_FAILED = "database_failed", InternalError;
    /// The database is damaged.
    DATABASE_CORRUPT = "database_corrupt", InternalError;
    /// A backup is damaged or was cut off.
    BACKUP_DAMAGED = "backup_damaged", InternalError;
    /// The database cannot be reached.
    DATABASE_UNAVAILABLE = "database_unavailable", ServiceUnavailable;
    /// The connection broke while a change was being saved.
    COMMIT_UNKNOWN = "commit_unknown", ServiceUnavailable;
    /// The disk is full.
    DISK_FULL = "disk_full", ServiceUnavailable;
    /// Redis cannot be reached.
    REDIS_UNAVAILABLE = "redis_unavailable", ServiceUnavailable;
    /// The server is stopping.
    SHUTTING_DOWN = "shutting_down", ServiceUnavailable;
    /// No server answers.
    SERVER_UNREACHABLE = "server_unreachable", ServiceUnavailable;
    /// The master key does not open this database.
    MASTER_KEY_WRONG = "master_key_wrong", InvalidRequest;
    /// The record of acts was altered.
    AUDIT_BROKEN = "audit_broken", InternalError;
    /// A setting is wrong.
    INVALID_CONFIG = "invalid_config", InvalidRequest;
    /// Other machines could reach the server, and nothing would protect the way.
    TLS_REQUIRED = "tls_required", InvalidRequest;
    /// A certificate or its key cannot be used.
    CERTIFICATE_INVALID = "certificate_invalid", InvalidRequest;
    /// The other side of a TLS connection did not prove who it is.
    CERTIFICATE_UNTRUSTED = "certificate_untrusted", Forbidden;
    /// The git program is missing or cannot be started.
    GIT_UNAVAILABLE = "git_unavailable", ServiceUnavailable;
    /// Git refused or failed.
    GIT_FAILED = "git_failed", InternalError;
    /// There is no such commit to begin from.
    BASE_NOT_FOUND = "base_not_found", NotFound;
    /// There is no such worktree.
    WORKTREE_NOT_FOUND = "worktree_not_found", NotFound;
    /// The worktree, or something in its place, is there already.
    WORKTREE_EXISTS = "worktree_exists", Conflict;
    /// The worktree is locked or in use.
    WORKTREE_BUSY = "worktree_busy", Conflict;
    /// The worktree holds work that Godel cannot save.
    WORKTREE_UNSAVED = "worktree_unsaved", Conflict;
    /// The setup script of a worktree failed.
    SETUP_FAILED = "setup_failed", InternalError;
    /// The repository asks for something to be run or copied that nobody on this machine agreed to.
    SETUP_UNTRUSTED = "setup_untrusted", Forbidden;
    /// A directory cannot be shared with a worktree as configured.
    SHARE_REFUSED = "share_refused", Conflict;
    /// The range of ports for worktrees is used up.
    PORTS_EXHAUSTED = "ports_exhausted", Conflict;
    /// The agent is in the middle of a turn.
    AGENT_BUSY = "agent_busy", Conflict;
    /// The session of the agent has ended.
    SESSION_OVER = "session_over", Conflict;
    /// The agent waits for no such answer.
    QUESTION_NOT_FOUND = "question_not_found", NotFound;
    /// There is no such node or branch in the conversation.
    NODE_NOT_FOUND = "node_not_found", NotFound;
    /// Another branch or save point of the conversation has that name.
    BRANCH_NAME_TAKEN = "branch_name_taken", Conflict;
    /// The conversation cannot take more.
    CONVERSATION_FULL = "conversation_full", Conflict;
    /// A stored conversation cannot be read.
    CONVERSATION_DAMAGED = "conversation_damaged", InternalError;
    /// The isolation that was asked for cannot be given on this machine.
    SANDBOX_UNAVAILABLE = "sandbox_unavailable", ServiceUnavailable;
    /// There is no such sandbox.
    SANDBOX_NOT_FOUND = "sandbox_not_found", NotFound;
    /// The sandbox is not in a state in which this can be done.
    SANDBOX_STATE = "sandbox_state", Conflict;
    /// A sandbox has used up what it may have.
    SANDBOX_LIMIT = "sandbox_limit", Conflict;
    /// A path leads out of the workspace of a sandbox.
    PATH_REFUSED = "path_refused", InvalidRequest;
    /// What was committed in a sandbox is not taken over.
    COMMIT_REFUSED = "commit_refused", Conflict;
    /// There is no such snapshot.
    SNAPSHOT_NOT_FOUND = "snapshot_not_found", NotFound;
    /// A snapshot cannot be read back as it was.
    SNAPSHOT_DAMAGED = "snapshot_damaged", InternalError;
    /// A file is no snapshot, or no whole one.
    SNAPSHOT_FILE_INVALID = "snapshot_file_invalid", InvalidRequest;
    /// A file could not be read or written.
    FILE_FAILED = "file_failed", InternalError;
    /// There is no such bead.
    BEAD_NOT_FOUND = "bead_not_found", NotFound;
    /// There is no such convoy.
    CONVOY_NOT_FOUND = "convoy_not_found", NotFound;
    /// Nothing is remembered under this name.
    MEMORY_NOT_FOUND = "memory_not_found", NotFound;
    /// There is no such commit.
    COMMIT_NOT_FOUND = "commit_not_found", NotFound;
    /// There is no git repository here.
    NO_REPOSITORY = "no_repository", NotFound;
    /// A git remote cannot be reached, or refuses.
    REMOTE_UNREACHABLE = "remote_unreachable", ServiceUnavailable;
    /// A forge such as GitHub or GitLab does not answer, or wants to be asked less often.
    FORGE_UNAVAILABLE = "forge_unavailable", ServiceUnavailable;
    /// A forge such as GitHub or GitLab says no.
    FORGE_REFUSED = "forge_refused", Conflict;
    /// The repository has no remote to sync with.
    NO_REMOTE = "no_remote", InvalidRequest;
    /// A git repository cannot be read.
    REPOSITORY_UNREADABLE = "repository_unreadable", InternalError;
    /// A git repository cannot be written.
    REPOSITORY_UNWRITABLE = "repository_unwritable", ServiceUnavailable;
    /// Others write to the beads of a repository all the time.
    BEADS_BUSY = "beads_busy", ServiceUnavailable;
    /// The beads of a repository were written by a later Godel.
    BEADS_NEWER = "beads_newer", Conflict;
    /// The document of a bead was damaged.
    BEAD_DAMAGED = "bead_damaged", InternalError;
    /// The beginning of an id fits more than one.
    BEAD_AMBIGUOUS = "bead_ambiguous", InvalidRequest;
    /// Somebody else holds the bead.
    BEAD_HELD = "bead_held", Conflict;
    /// A claim ended, or another took its place.
    LEASE_LOST = "lease_lost", Conflict;
    /// A bead is blocked, or there is none to claim.
    NOT_READY = "not_ready", Conflict;
    /// A link would close a circle.
    LINK_CYCLE = "link_cycle", InvalidRequest;
    /// A bead has not earned the status it should get.
    STATUS_NOT_EARNED = "status_not_earned", Conflict;
}
