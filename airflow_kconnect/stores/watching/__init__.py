"""Where connectors are, and what sensors and triggers wait for."""
