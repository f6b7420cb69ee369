DROP TABLE usage_quarter;
