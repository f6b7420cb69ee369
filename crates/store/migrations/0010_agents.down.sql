DROP TABLE talk_node;
DROP TABLE paper;
