"""Files with records as a source: CSV, JSON lines, Avro, Parquet, ORC, text; in folders and object stores."""
