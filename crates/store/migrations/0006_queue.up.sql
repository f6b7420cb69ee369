-- The queue. A task is in exactly one of ready, delayed, blocked, lease and outcome, so that depth is
-- a count of what is there, and a row that changes often is narrow.

CREATE TABLE pool (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    name TEXT NOT NULL,
    settings TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, name)
);

-- The lines of a pool: one for each set of capabilities that was ever asked for.
CREATE TABLE lane (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    pool TEXT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (tenant, pool, name)
--postgres:);
--sqlite:) WITHOUT ROWID;

-- What was asked for; written once, never changed.
CREATE TABLE task (
    tenant UUID NOT NULL,
    id UUID NOT NULL,
    lane TEXT NOT NULL,
    tier BIGINT NOT NULL,
    asked TEXT NOT NULL,
    idem TEXT,
    owner_kind TEXT,
    owner TEXT,
    owner_part TEXT,
    person UUID,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
--postgres:);
--sqlite:) WITHOUT ROWID;
CREATE UNIQUE INDEX task_by_idem ON task (tenant, idem) WHERE idem IS NOT NULL;
CREATE INDEX task_by_owner ON task (tenant, owner_kind, owner) WHERE owner IS NOT NULL;

-- Can be handed out. `attempt` is the last one that was begun, `last` the last one that is allowed.
CREATE TABLE ready (
    tenant UUID NOT NULL,
    lane TEXT NOT NULL,
    tier BIGINT NOT NULL,
    at BIGINT NOT NULL,
    task UUID NOT NULL,
    attempt BIGINT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (tenant, lane, tier, at, task)
--postgres:) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
--sqlite:) WITHOUT ROWID;
CREATE INDEX ready_by_task ON ready (tenant, task);

-- Waits for its time: apart from what is ready, so that a claim never walks over what is not.
CREATE TABLE delayed (
    tenant UUID NOT NULL,
    task UUID NOT NULL,
    due_at BIGINT NOT NULL,
    lane TEXT NOT NULL,
    tier BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    last BIGINT NOT NULL,
    PRIMARY KEY (tenant, task)
--postgres:);
--sqlite:) WITHOUT ROWID;
CREATE INDEX delayed_by_due ON delayed (due_at);

-- Waits for other tasks.
CREATE TABLE blocked (
    tenant UUID NOT NULL,
    task UUID NOT NULL,
    lane TEXT NOT NULL,
    tier BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    last BIGINT NOT NULL,
    -- How many of its dependencies have not succeeded.
    waits BIGINT NOT NULL,
    start_at BIGINT,
    PRIMARY KEY (tenant, task)
--postgres:);
--sqlite:) WITHOUT ROWID;

CREATE TABLE dependency (
    tenant UUID NOT NULL,
    parent UUID NOT NULL,
    child UUID NOT NULL,
    PRIMARY KEY (tenant, parent, child)
--postgres:);
--sqlite:) WITHOUT ROWID;
CREATE INDEX dependency_by_child ON dependency (tenant, child);

-- A worker has it. Only who shows the same attempt may say anything of it.
CREATE TABLE lease (
    tenant UUID NOT NULL,
    task UUID NOT NULL,
    attempt BIGINT NOT NULL,
    last BIGINT NOT NULL,
    lane TEXT NOT NULL,
    tier BIGINT NOT NULL,
    worker UUID NOT NULL,
    started_at BIGINT NOT NULL,
    ends_at BIGINT,
    progress TEXT,
    -- Why it is to be stopped.
    cancel TEXT,
    PRIMARY KEY (tenant, task)
--postgres:) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_cost_delay = 0);
--sqlite:) WITHOUT ROWID;
CREATE INDEX lease_by_end ON lease (ends_at) WHERE ends_at IS NOT NULL;

-- Is over.
CREATE TABLE outcome (
    tenant UUID NOT NULL,
    task UUID NOT NULL,
    state TEXT NOT NULL,
    lane TEXT NOT NULL,
    tier BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    worker UUID,
    started_at BIGINT,
    at BIGINT NOT NULL,
    result TEXT,
    error TEXT,
    -- Which task's end was the reason for this one's.
    because UUID,
    PRIMARY KEY (tenant, task)
--postgres:);
--sqlite:) WITHOUT ROWID;
CREATE INDEX outcome_not_done ON outcome (tenant, state, task) WHERE state <> 'succeeded';

-- Attempts that did not succeed.
CREATE TABLE attempt (
    tenant UUID NOT NULL,
    task UUID NOT NULL,
    number BIGINT NOT NULL,
    worker UUID NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    ending TEXT NOT NULL,
    error TEXT,
    PRIMARY KEY (tenant, task, number)
--postgres:);
--sqlite:) WITHOUT ROWID;

-- Tasks that are of no use after a time.
CREATE TABLE task_deadline (
    tenant UUID NOT NULL,
    at BIGINT NOT NULL,
    task UUID NOT NULL,
    PRIMARY KEY (tenant, task)
--postgres:);
--sqlite:) WITHOUT ROWID;
CREATE INDEX task_deadline_by_time ON task_deadline (at);

CREATE TABLE worker (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL,
    name TEXT NOT NULL,
    pool TEXT NOT NULL,
    capabilities TEXT NOT NULL,
    capacity BIGINT NOT NULL,
    mood TEXT NOT NULL,
    error TEXT,
    person UUID NOT NULL,
    registered_at BIGINT NOT NULL,
    seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    -- Whether what it had was given to others.
    gone BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
--postgres:) WITH (fillfactor = 70);
--sqlite:) WITHOUT ROWID;
CREATE INDEX worker_by_expiry ON worker (expires_at) WHERE gone = 0;

CREATE TABLE schedule (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL,
    name TEXT NOT NULL,
    asked TEXT NOT NULL,
    paused BIGINT NOT NULL,
    next_at BIGINT,
    last_at BIGINT,
    created_at BIGINT NOT NULL,
    person UUID NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, name)
--postgres:);
--sqlite:) WITHOUT ROWID;
CREATE INDEX schedule_by_next ON schedule (next_at) WHERE next_at IS NOT NULL;

-- What became of tasks that belong to something, until it was told.
CREATE TABLE task_news (
    tenant UUID NOT NULL,
    task UUID NOT NULL,
    owner_kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    part TEXT NOT NULL,
    state TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (tenant, owner_kind, owner, task)
--postgres:);
--sqlite:) WITHOUT ROWID;

-- Workflows, their runs, and teams.

CREATE TABLE workflow (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL,
    name TEXT NOT NULL,
    source TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    person UUID NOT NULL,
    PRIMARY KEY (tenant, id),
    UNIQUE (tenant, name)
--postgres:);
--sqlite:) WITHOUT ROWID;

-- A run; `version` counts its turns, so that of two servers that move it on one is refused.
CREATE TABLE run (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL,
    workflow UUID,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    doc TEXT NOT NULL,
    version BIGINT NOT NULL,
    idem TEXT,
    -- Whose step started it, and which; or which team.
    parent UUID,
    parent_part TEXT,
    team UUID,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    person UUID NOT NULL,
    PRIMARY KEY (tenant, id)
--postgres:) WITH (fillfactor = 70);
--sqlite:) WITHOUT ROWID;
CREATE UNIQUE INDEX run_by_idem ON run (tenant, idem) WHERE idem IS NOT NULL;
CREATE INDEX run_by_workflow ON run (tenant, workflow) WHERE workflow IS NOT NULL;

-- What a run carries out; written once, because it can be large.
CREATE TABLE run_plan (
    tenant UUID NOT NULL,
    run UUID NOT NULL,
    definition TEXT NOT NULL,
    PRIMARY KEY (tenant, run)
--postgres:);
--sqlite:) WITHOUT ROWID;

-- Steps that have begun.
CREATE TABLE run_step (
    tenant UUID NOT NULL,
    run UUID NOT NULL,
    step BIGINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (tenant, run, step)
--postgres:);
--sqlite:) WITHOUT ROWID;

-- What is to be told to a run or a team at a time.
CREATE TABLE alarm (
    tenant UUID NOT NULL,
    owner_kind TEXT NOT NULL,
    owner TEXT NOT NULL,
    what TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (tenant, owner_kind, owner, what)
--postgres:);
--sqlite:) WITHOUT ROWID;
CREATE INDEX alarm_by_time ON alarm (at);

CREATE TABLE team (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    id UUID NOT NULL,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    doc TEXT NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    person UUID NOT NULL,
    PRIMARY KEY (tenant, id)
--postgres:);
--sqlite:) WITHOUT ROWID;
