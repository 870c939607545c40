"""A sink that writes JSON lines or Parquet files into folders, exactly once."""
