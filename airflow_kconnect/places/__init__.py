"""Files in folders and object stores, by one interface: hidden while they are written, then visible as a whole."""
