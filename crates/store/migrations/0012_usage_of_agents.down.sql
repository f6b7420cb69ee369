DROP INDEX usage_by_agent;
