"""A sink that writes JSON, Parquet, Avro, text or byte files into folders, exactly once."""
