DROP TABLE shelf;
ALTER TABLE project DROP COLUMN repository;
