-- Agents, conversations, mail, notices and marches: documents that are read and written whole, found by
-- their kind, by whom they belong to, and by the state that they are in.
CREATE TABLE paper (
    tenant UUID NOT NULL REFERENCES tenant (tenant),
    kind TEXT NOT NULL,
    id UUID NOT NULL,
    -- A name that no other paper of the kind has.
    label TEXT,
    owner TEXT NOT NULL,
    state TEXT NOT NULL,
    doc TEXT NOT NULL,
    version BIGINT NOT NULL,
    PRIMARY KEY (tenant, kind, id)
--postgres:);
--sqlite:) WITHOUT ROWID;
CREATE UNIQUE INDEX paper_by_label ON paper (tenant, kind, label) WHERE label IS NOT NULL;
CREATE INDEX paper_by_owner ON paper (tenant, kind, owner, id);
CREATE INDEX paper_by_state ON paper (kind, state, tenant, id);

-- What was said in a conversation: nodes are only added.
CREATE TABLE talk_node (
    tenant UUID NOT NULL,
    talk UUID NOT NULL,
    number BIGINT NOT NULL,
    doc TEXT NOT NULL,
    PRIMARY KEY (tenant, talk, number)
--postgres:);
--sqlite:) WITHOUT ROWID;
