"""The JDBC source: from tables and queries to splits and frames."""
