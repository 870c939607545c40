"""Connect's `Values`: header values as text, and text as values."""
