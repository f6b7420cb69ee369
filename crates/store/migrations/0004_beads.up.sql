-- Where the beads of a project live, and how far their changes are told as events.

ALTER TABLE project ADD COLUMN repository TEXT NOT NULL DEFAULT '';

CREATE TABLE shelf (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    project UUID NOT NULL,
    -- The last commit of the state branch that was told.
    told TEXT NOT NULL,
    PRIMARY KEY (tenant, project)
);
