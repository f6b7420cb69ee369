-- What a provider is about to be asked is on disk before it is asked, and in the ledger when it has
-- ended. One row holds all calls of a tenant that began in one commit, as JSON; it goes when the
-- last of them is in the ledger. Who finds a row of a dead server settles what is not there yet.
CREATE TABLE model_open (
    tenant UUID NOT NULL,
    node UUID NOT NULL,
    batch BIGINT NOT NULL,
    calls TEXT NOT NULL,
    PRIMARY KEY (tenant, node, batch)
--postgres:);
--sqlite:) WITHOUT ROWID;

-- Whatever is open in the ledger may have cost its worst. A server of the older version that is still
-- at work finds its own settled; too much is told rather than too little.
--postgres:SET LOCAL ROLE godel_system;
INSERT INTO usage_day (tenant, day, provider, model, project, person, agent, bead, convoy, requests,
    failed, unpriced, estimated, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning,
    server_tools, cost, by_login)
SELECT tenant, at / 86400000000, provider, model,
--postgres:    COALESCE(project::text, ''), person::text,
--sqlite:    COALESCE(lower(substr(hex(project), 1, 8) || '-' || substr(hex(project), 9, 4) || '-' ||
--sqlite:        substr(hex(project), 13, 4) || '-' || substr(hex(project), 17, 4) || '-' ||
--sqlite:        substr(hex(project), 21)), '') AS project_text,
--sqlite:    lower(substr(hex(person), 1, 8) || '-' || substr(hex(person), 9, 4) || '-' ||
--sqlite:        substr(hex(person), 13, 4) || '-' || substr(hex(person), 17, 4) || '-' ||
--sqlite:        substr(hex(person), 21)),
    COALESCE(agent, ''), COALESCE(bead, ''), COALESCE(convoy, ''), COUNT(*),
    0, SUM(CASE WHEN worst IS NULL AND paid_by = 'key' THEN 1 ELSE 0 END), COUNT(*), 0, 0, 0, 0, 0,
    0, 0, COALESCE(SUM(worst), 0), SUM(CASE WHEN paid_by = 'login' THEN 1 ELSE 0 END)
FROM model_call WHERE outcome = 'open'
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9
ON CONFLICT (tenant, day, provider, model, project, person, agent, bead, convoy) DO UPDATE
SET requests = usage_day.requests + EXCLUDED.requests,
    unpriced = usage_day.unpriced + EXCLUDED.unpriced,
    estimated = usage_day.estimated + EXCLUDED.estimated,
    cost = usage_day.cost + EXCLUDED.cost,
    by_login = usage_day.by_login + EXCLUDED.by_login;
UPDATE model_call SET outcome = 'lost', cost = worst, estimated = 1, ended_at = at,
    error = 'the server ended before the answer did' WHERE outcome = 'open';
UPDATE budget SET spent = spent + held, held = 0 WHERE held <> 0;
--postgres:RESET ROLE;
DROP INDEX model_call_open;
