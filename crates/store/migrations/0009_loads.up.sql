-- What a worker has is counted each time it is given something.
CREATE INDEX lease_by_worker ON lease (tenant, worker);
