DROP TABLE snapshot;
DROP TABLE event;
DROP TABLE stream_head;
DROP TABLE project;
DROP TABLE tenant;
