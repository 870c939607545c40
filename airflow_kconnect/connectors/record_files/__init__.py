"""Files with records as a source: CSV, JSON lines, Parquet, ORC, text; in folders and object stores."""
