-- By what an answer was paid, the quotas of subscriptions, and what was said.

-- `key`, `login` (a subscription of the client) or `cache` (it was given before).
ALTER TABLE model_call ADD COLUMN paid_by TEXT NOT NULL DEFAULT 'key';
ALTER TABLE usage_day ADD COLUMN by_login BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_day ADD COLUMN from_cache BIGINT NOT NULL DEFAULT 0;

-- What providers said last of the windows of a subscription; `used` is in millionths.
CREATE TABLE model_quota (
    tenant UUID NOT NULL,
    person UUID NOT NULL,
    provider TEXT NOT NULL,
    name TEXT NOT NULL,
    used BIGINT NOT NULL,
    minutes BIGINT,
    resets_at BIGINT,
    state TEXT,
    seen_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, person, provider, name)
--postgres:);
--sqlite:) WITHOUT ROWID;

-- What was asked and answered, where the settings want that to be kept; secrets are taken out before.
-- `asked_bytes` and `told_bytes` are how much it was, of which only the beginning may be here.
CREATE TABLE model_body (
    tenant UUID NOT NULL,
    id UUID NOT NULL,
    asked BYTEA NOT NULL,
    asked_bytes BIGINT NOT NULL,
    told BYTEA NOT NULL,
    told_bytes BIGINT NOT NULL,
    keep_until BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);
CREATE INDEX model_body_old ON model_body (tenant, keep_until);
