"""Connect's `Values`: conversion of header values to and from text."""
