"""Rules of names, folders and bounds of files, without I/O."""
