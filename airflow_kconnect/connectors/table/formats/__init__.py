"""What differs between table formats: a room for each."""
