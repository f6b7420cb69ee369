--postgres:DROP INDEX event_by_id;
--sqlite:DROP TABLE event_moment;
CREATE UNIQUE INDEX event_by_id ON event (tenant, id);
