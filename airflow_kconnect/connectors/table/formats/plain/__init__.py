"""Any other format of Spark: rows are appended, at least once."""
