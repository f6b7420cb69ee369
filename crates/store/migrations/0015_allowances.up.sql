-- Whether a budget stops what it limits, by how many percent it may be passed before, and who is told: 16 bytes
-- of id for each person, and nobody stands for everybody.
ALTER TABLE budget ADD COLUMN stops BIGINT NOT NULL DEFAULT 1;
ALTER TABLE budget ADD COLUMN grace_percent BIGINT NOT NULL DEFAULT 0;
--postgres:ALTER TABLE budget ADD COLUMN tell BYTEA NOT NULL DEFAULT ''::bytea;
--sqlite:ALTER TABLE budget ADD COLUMN tell BLOB NOT NULL DEFAULT x'';

-- By which price a request was paid, and what a cache and the choice of a provider saved of it.
ALTER TABLE model_call ADD COLUMN price TEXT;
ALTER TABLE model_call ADD COLUMN saved_by_cache BIGINT NOT NULL DEFAULT 0;
ALTER TABLE model_call ADD COLUMN saved_by_routing BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_day ADD COLUMN saved_by_cache BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_day ADD COLUMN saved_by_routing BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_quarter ADD COLUMN saved_by_cache BIGINT NOT NULL DEFAULT 0;
ALTER TABLE usage_quarter ADD COLUMN saved_by_routing BIGINT NOT NULL DEFAULT 0;
