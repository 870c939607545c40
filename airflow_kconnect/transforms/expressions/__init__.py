"""What several transformations share: fields, instants, date patterns, regular expressions."""
