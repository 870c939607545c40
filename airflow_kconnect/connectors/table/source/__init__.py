"""Tables as sources: what has changed in them since the last run, what is new by a column, or all they hold."""
