-- What a server of the version before writes meanwhile waits, and is refused: it would be in neither table.
--postgres:LOCK TABLE model_call IN ACCESS EXCLUSIVE MODE;
-- An attempt that has ended is one text: it is written once, read as a whole, and what reports ask for is in
-- their sums. A row of 38 columns cost a fifth of all the work of a request to a model.
CREATE TABLE model_ended (
    tenant UUID NOT NULL,
    id UUID NOT NULL,
    -- JSON; what is nothing, or as usual, is left out. Money is in millionths of a dollar.
    call TEXT NOT NULL,
    PRIMARY KEY (tenant, id)
--postgres:);
--sqlite:) WITHOUT ROWID;

--postgres:GRANT SELECT, INSERT, DELETE ON model_ended TO godel_system;
--postgres:SET LOCAL ROLE godel_system;
INSERT INTO model_ended (tenant, id, call)
SELECT tenant, id,
--postgres:    json_strip_nulls(json_build_object('person', person::text, 'project', project::text,
--postgres:        'agent', agent, 'bead', bead, 'convoy', convoy, 'token', agent_token::text,
--postgres:        'session', client_session, 'dialect', dialect, 'asked', asked, 'provider', provider,
--postgres:        'model', NULLIF(model, asked), 'streamed', NULLIF(streamed, 0),
--postgres:        'paid_by', NULLIF(paid_by, 'key'), 'request', NULLIF(request, id)::text,
--postgres:        'attempt', NULLIF(attempt, 1), 'at', at, 'worst', worst, 'outcome', outcome,
--postgres:        'status', status, 'input', NULLIF(input, 0), 'cache_read', NULLIF(cache_read, 0),
--postgres:        'cache_write_5m', NULLIF(cache_write_5m, 0),
--postgres:        'cache_write_1h', NULLIF(cache_write_1h, 0), 'output', NULLIF(output, 0),
--postgres:        'reasoning', NULLIF(reasoning, 0), 'server_tools', NULLIF(server_tools, 0),
--postgres:        'cost', cost, 'estimated', NULLIF(estimated, 0), 'first_byte', first_byte,
--postgres:        'ended_at', ended_at, 'error', error, 'price', price,
--postgres:        'saved_by_cache', NULLIF(saved_by_cache, 0),
--postgres:        'saved_by_routing', NULLIF(saved_by_routing, 0)))::text
--sqlite:    json_patch('{}', json_object('person', lower(substr(hex(person), 1, 8) || '-' || substr(hex(person), 9, 4) || '-' ||
--sqlite:        substr(hex(person), 13, 4) || '-' || substr(hex(person), 17, 4) || '-' || substr(hex(person), 21)),
--sqlite:    'project', CASE WHEN project IS NULL THEN NULL ELSE
--sqlite:        lower(substr(hex(project), 1, 8) || '-' || substr(hex(project), 9, 4) || '-' ||
--sqlite:        substr(hex(project), 13, 4) || '-' || substr(hex(project), 17, 4) || '-' || substr(hex(project), 21)) END,
--sqlite:    'agent', agent, 'bead', bead, 'convoy', convoy,
--sqlite:    'token', CASE WHEN agent_token IS NULL THEN NULL ELSE
--sqlite:        lower(substr(hex(agent_token), 1, 8) || '-' || substr(hex(agent_token), 9, 4) || '-' ||
--sqlite:        substr(hex(agent_token), 13, 4) || '-' || substr(hex(agent_token), 17, 4) || '-' || substr(hex(agent_token), 21)) END,
--sqlite:    'session', client_session, 'dialect', dialect, 'asked', asked, 'provider', provider,
--sqlite:    'model', NULLIF(model, asked), 'streamed', NULLIF(streamed, 0),
--sqlite:    'paid_by', NULLIF(paid_by, 'key'), 'request', CASE WHEN request = id THEN NULL ELSE
--sqlite:        lower(substr(hex(request), 1, 8) || '-' || substr(hex(request), 9, 4) || '-' ||
--sqlite:        substr(hex(request), 13, 4) || '-' || substr(hex(request), 17, 4) || '-' || substr(hex(request), 21)) END,
--sqlite:    'attempt', NULLIF(attempt, 1), 'at', at, 'worst', worst, 'outcome', outcome,
--sqlite:    'status', status, 'input', NULLIF(input, 0), 'cache_read', NULLIF(cache_read, 0),
--sqlite:    'cache_write_5m', NULLIF(cache_write_5m, 0),
--sqlite:    'cache_write_1h', NULLIF(cache_write_1h, 0), 'output', NULLIF(output, 0),
--sqlite:    'reasoning', NULLIF(reasoning, 0), 'server_tools', NULLIF(server_tools, 0),
--sqlite:    'cost', cost, 'estimated', NULLIF(estimated, 0), 'first_byte', first_byte,
--sqlite:    'ended_at', ended_at, 'error', error, 'price', price,
--sqlite:    'saved_by_cache', NULLIF(saved_by_cache, 0),
--sqlite:    'saved_by_routing', NULLIF(saved_by_routing, 0)))
FROM model_call;
--postgres:RESET ROLE;
DROP TABLE model_call;
