"""The JDBC sink: from records to rows of a target."""
