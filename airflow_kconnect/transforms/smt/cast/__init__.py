"""Cast: its specification, and the conversions between types."""
