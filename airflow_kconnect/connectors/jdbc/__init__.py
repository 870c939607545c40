"""Tables of any database with a JDBC driver into topics, and topics into tables."""
