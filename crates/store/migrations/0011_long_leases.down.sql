DROP INDEX lease_by_worker;
CREATE INDEX lease_by_worker ON lease (tenant, worker);
