-- Tenants, projects and the event log.
-- A line that begins with `--sqlite:` or `--postgres:` counts only on that engine.

CREATE TABLE tenant (
    tenant UUID NOT NULL PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);

CREATE TABLE project (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL,
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, name)
);

-- `seq` is the newest position of the tenant's log, `trimmed` the newest one that retention took.
CREATE TABLE stream_head (
    tenant UUID NOT NULL PRIMARY KEY REFERENCES tenant (tenant),
    seq BIGINT NOT NULL,
    trimmed BIGINT NOT NULL
--postgres:) WITH (fillfactor = 50);
--sqlite:);

CREATE TABLE event (
    tenant UUID NOT NULL,
    seq BIGINT NOT NULL,
    id UUID NOT NULL,
    kind TEXT NOT NULL,
    at BIGINT NOT NULL,
    source TEXT NOT NULL,
    instance TEXT,
    version TEXT,
    payload TEXT NOT NULL,
    correlation TEXT,
    causation UUID,
    actor TEXT,
    trace TEXT,
    refs TEXT,
    PRIMARY KEY (tenant, seq)
--postgres:);
--sqlite:) WITHOUT ROWID;

CREATE UNIQUE INDEX event_by_id ON event (tenant, id);

-- What the trimmed part of the log added up to.
CREATE TABLE snapshot (
    tenant UUID NOT NULL PRIMARY KEY REFERENCES tenant (tenant),
    seq BIGINT NOT NULL,
    state TEXT NOT NULL
);
