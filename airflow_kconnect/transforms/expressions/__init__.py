"""What several transformations use: fields, instants, date patterns, regular expressions."""
