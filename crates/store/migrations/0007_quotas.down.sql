DROP TABLE model_body;
DROP TABLE model_quota;
ALTER TABLE usage_day DROP COLUMN from_cache;
ALTER TABLE usage_day DROP COLUMN by_login;
ALTER TABLE model_call DROP COLUMN paid_by;
