DROP INDEX lease_by_worker;
