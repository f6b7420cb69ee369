-- A worker's oldest is known, so that what it had long ago is not walked over.
DROP INDEX lease_by_worker;
CREATE INDEX lease_by_worker ON lease (tenant, worker, started_at);
