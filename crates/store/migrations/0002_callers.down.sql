DROP TABLE idempotency;
DROP TABLE login;
DROP TABLE api_key;
