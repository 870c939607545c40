"""What Java prints and matches: canonical JSON and regular expressions."""
