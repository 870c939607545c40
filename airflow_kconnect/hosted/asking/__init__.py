"""What Java plug-ins say about themselves: their keys, a configuration, offsets that are to be altered."""
