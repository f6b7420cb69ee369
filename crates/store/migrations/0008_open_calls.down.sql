-- Whatever is open goes back into the ledger, where the older version finds and settles it.
--postgres:SET LOCAL ROLE godel_system;
INSERT INTO model_call (tenant, id, request, attempt, at, node, person, project, agent, bead, convoy,
    agent_token, client_session, dialect, asked, provider, model, streamed, worst, held, paid_by,
    outcome)
--postgres:SELECT tenant, (call ->> 'id')::uuid, COALESCE(call ->> 'request', call ->> 'id')::uuid,
--postgres:    (call ->> 'attempt')::bigint, (call ->> 'at')::bigint, node, (whose ->> 'user')::uuid,
--postgres:    (whose ->> 'project')::uuid, whose ->> 'agent', whose ->> 'bead', whose ->> 'convoy',
--postgres:    (whose ->> 'token')::uuid, call ->> 'session', call ->> 'dialect', call ->> 'asked',
--postgres:    call ->> 'provider', COALESCE(call ->> 'model', call ->> 'asked'),
--postgres:    (call ->> 'streamed')::boolean::int, (call ->> 'worst')::bigint,
--postgres:    COALESCE((SELECT decode(string_agg(replace(held ->> 0, '-', '') ||
--postgres:        lpad(to_hex((held ->> 1)::bigint), 16, '0'), '' ORDER BY place), 'hex')
--postgres:        FROM jsonb_array_elements(call -> 'held') WITH ORDINALITY AS all_held (held, place)),
--postgres:        ''::bytea),
--postgres:    call ->> 'paid_by', 'open'
--postgres:FROM model_open, jsonb_array_elements(calls::jsonb) AS whose,
--postgres:    jsonb_array_elements(whose -> 'calls') AS call
--sqlite:SELECT tenant, unhex(call.value ->> 'id', '-'),
--sqlite:    unhex(COALESCE(call.value ->> 'request', call.value ->> 'id'), '-'),
--sqlite:    call.value ->> 'attempt', call.value ->> 'at', node, unhex(whose.value ->> 'user', '-'),
--sqlite:    unhex(whose.value ->> 'project', '-'), whose.value ->> 'agent', whose.value ->> 'bead',
--sqlite:    whose.value ->> 'convoy', unhex(whose.value ->> 'token', '-'), call.value ->> 'session',
--sqlite:    call.value ->> 'dialect', call.value ->> 'asked', call.value ->> 'provider',
--sqlite:    COALESCE(call.value ->> 'model', call.value ->> 'asked'), call.value ->> 'streamed',
--sqlite:    call.value ->> 'worst',
--sqlite:    unhex(COALESCE((SELECT group_concat(replace(value ->> 0, '-', '') ||
--sqlite:        printf('%016x', value ->> 1), '') FROM json_each(call.value, '$.held')), '')),
--sqlite:    call.value ->> 'paid_by', 'open'
--sqlite:FROM model_open, json_each(calls) AS whose, json_each(whose.value, '$.calls') AS call
WHERE true
ON CONFLICT (tenant, id) DO NOTHING;
--postgres:RESET ROLE;
CREATE INDEX model_call_open ON model_call (node) WHERE outcome = 'open';
DROP TABLE model_open;
