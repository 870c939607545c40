"""What writes rows as files of a format: it knows nothing of names and folders."""
