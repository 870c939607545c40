"""Oracle: what its JDBC driver does not tell, or tells wrongly."""
