-- What an agent has spent is known without reading what everybody did on the days it lived.
CREATE INDEX usage_by_agent ON usage_day (tenant, agent) WHERE agent <> '';
