"""The JVM of a hosted connector: its class path, its start, its log, what its threads do."""
