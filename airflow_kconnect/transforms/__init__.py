"""Single message transforms over the record frame."""
