"""One room for each database: how it is read and how it is written."""
