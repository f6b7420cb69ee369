-- The same sums by quarter of an hour, counted from 1970 in UTC: days begin at another moment in each time
-- zone, and all zones of today are whole quarters away from UTC.
CREATE TABLE usage_quarter (
    tenant UUID NOT NULL,
    quarter BIGINT NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    project TEXT NOT NULL,
    person TEXT NOT NULL,
    agent TEXT NOT NULL,
    bead TEXT NOT NULL,
    convoy TEXT NOT NULL,
    requests BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    unpriced BIGINT NOT NULL,
    estimated BIGINT NOT NULL,
    input BIGINT NOT NULL,
    cache_read BIGINT NOT NULL,
    cache_write_5m BIGINT NOT NULL,
    cache_write_1h BIGINT NOT NULL,
    output BIGINT NOT NULL,
    reasoning BIGINT NOT NULL,
    server_tools BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    by_login BIGINT NOT NULL,
    from_cache BIGINT NOT NULL,
    PRIMARY KEY (tenant, quarter, provider, model, project, person, agent, bead, convoy)
--postgres:);
--sqlite:) WITHOUT ROWID;

--postgres:GRANT SELECT, INSERT, UPDATE ON usage_quarter TO godel_system;
--postgres:SET LOCAL ROLE godel_system;
-- What is in the ledger still is known to the moment.
INSERT INTO usage_quarter (tenant, quarter, provider, model, project, person, agent, bead, convoy,
    requests, failed, unpriced, estimated, input, cache_read, cache_write_5m, cache_write_1h, output,
    reasoning, server_tools, cost, by_login, from_cache)
SELECT tenant, quarter, provider, model, project, person, agent, bead, convoy, SUM(asked),
    SUM(asked * failed), SUM(CASE WHEN cost IS NULL THEN asked - by_login ELSE 0 END),
    SUM(asked * estimated), SUM(asked * input), SUM(asked * cache_read), SUM(asked * cache_write_5m),
    SUM(asked * cache_write_1h), SUM(asked * output), SUM(asked * reasoning),
    SUM(asked * server_tools), SUM(asked * COALESCE(cost, 0)), SUM(by_login), SUM(1 - asked)
FROM (SELECT tenant, at / 900000000 AS quarter, provider, model,
--postgres:        COALESCE(project::text, '') AS project, person::text AS person,
-- SQLite writes no digits for NULL, which would leave the dashes.
--sqlite:        CASE WHEN project IS NULL THEN '' ELSE lower(substr(hex(project), 1, 8) || '-' ||
--sqlite:            substr(hex(project), 9, 4) || '-' || substr(hex(project), 13, 4) || '-' ||
--sqlite:            substr(hex(project), 17, 4) || '-' || substr(hex(project), 21)) END AS project,
--sqlite:        lower(substr(hex(person), 1, 8) || '-' || substr(hex(person), 9, 4) || '-' ||
--sqlite:            substr(hex(person), 13, 4) || '-' || substr(hex(person), 17, 4) || '-' ||
--sqlite:            substr(hex(person), 21)) AS person,
        COALESCE(agent, '') AS agent, COALESCE(bead, '') AS bead, COALESCE(convoy, '') AS convoy,
        CASE WHEN paid_by = 'cache' THEN 0 ELSE 1 END AS asked,
        CASE WHEN paid_by = 'login' THEN 1 ELSE 0 END AS by_login,
        CASE WHEN outcome = 'failed' THEN 1 ELSE 0 END AS failed,
        estimated, input, cache_read, cache_write_5m, cache_write_1h, output, reasoning, server_tools,
        cost
    FROM model_call WHERE outcome <> 'open') AS ended
GROUP BY tenant, quarter, provider, model, project, person, agent, bead, convoy;
-- What was removed from the ledger is known by its day only, and is put to noon in UTC, so that no sum loses it.
INSERT INTO usage_quarter (tenant, quarter, provider, model, project, person, agent, bead, convoy,
    requests, failed, unpriced, estimated, input, cache_read, cache_write_5m, cache_write_1h, output,
    reasoning, server_tools, cost, by_login, from_cache)
SELECT usage_day.tenant, usage_day.day * 96 + 48, usage_day.provider, usage_day.model,
    usage_day.project, usage_day.person, usage_day.agent, usage_day.bead, usage_day.convoy,
    usage_day.requests - COALESCE(known.requests, 0), usage_day.failed - COALESCE(known.failed, 0),
    usage_day.unpriced - COALESCE(known.unpriced, 0),
    usage_day.estimated - COALESCE(known.estimated, 0), usage_day.input - COALESCE(known.input, 0),
    usage_day.cache_read - COALESCE(known.cache_read, 0),
    usage_day.cache_write_5m - COALESCE(known.cache_write_5m, 0),
    usage_day.cache_write_1h - COALESCE(known.cache_write_1h, 0),
    usage_day.output - COALESCE(known.output, 0),
    usage_day.reasoning - COALESCE(known.reasoning, 0),
    usage_day.server_tools - COALESCE(known.server_tools, 0),
    usage_day.cost - COALESCE(known.cost, 0), usage_day.by_login - COALESCE(known.by_login, 0),
    usage_day.from_cache - COALESCE(known.from_cache, 0)
FROM usage_day LEFT JOIN
    (SELECT tenant, quarter / 96 AS day, provider, model, project, person, agent, bead, convoy,
        SUM(requests) AS requests, SUM(failed) AS failed, SUM(unpriced) AS unpriced,
        SUM(estimated) AS estimated, SUM(input) AS input, SUM(cache_read) AS cache_read,
        SUM(cache_write_5m) AS cache_write_5m, SUM(cache_write_1h) AS cache_write_1h,
        SUM(output) AS output, SUM(reasoning) AS reasoning, SUM(server_tools) AS server_tools,
        SUM(cost) AS cost, SUM(by_login) AS by_login, SUM(from_cache) AS from_cache
    FROM usage_quarter
    GROUP BY tenant, quarter / 96, provider, model, project, person, agent, bead, convoy) AS known
    ON known.tenant = usage_day.tenant AND known.day = usage_day.day
        AND known.provider = usage_day.provider AND known.model = usage_day.model
        AND known.project = usage_day.project AND known.person = usage_day.person
        AND known.agent = usage_day.agent AND known.bead = usage_day.bead
        AND known.convoy = usage_day.convoy
WHERE usage_day.requests > COALESCE(known.requests, 0)
    OR usage_day.from_cache > COALESCE(known.from_cache, 0)
ON CONFLICT (tenant, quarter, provider, model, project, person, agent, bead, convoy) DO UPDATE
SET requests = usage_quarter.requests + EXCLUDED.requests,
    failed = usage_quarter.failed + EXCLUDED.failed,
    unpriced = usage_quarter.unpriced + EXCLUDED.unpriced,
    estimated = usage_quarter.estimated + EXCLUDED.estimated,
    input = usage_quarter.input + EXCLUDED.input,
    cache_read = usage_quarter.cache_read + EXCLUDED.cache_read,
    cache_write_5m = usage_quarter.cache_write_5m + EXCLUDED.cache_write_5m,
    cache_write_1h = usage_quarter.cache_write_1h + EXCLUDED.cache_write_1h,
    output = usage_quarter.output + EXCLUDED.output,
    reasoning = usage_quarter.reasoning + EXCLUDED.reasoning,
    server_tools = usage_quarter.server_tools + EXCLUDED.server_tools,
    cost = usage_quarter.cost + EXCLUDED.cost,
    by_login = usage_quarter.by_login + EXCLUDED.by_login,
    from_cache = usage_quarter.from_cache + EXCLUDED.from_cache;
--postgres:RESET ROLE;
