DROP TABLE model_node;
DROP TABLE agent_token;
DROP TABLE budget;
DROP TABLE usage_day;
DROP TABLE model_call;
