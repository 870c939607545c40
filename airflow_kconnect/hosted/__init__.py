"""A Kafka Connect worker in a JVM of this run's own, for Java connectors: started, watched, stopped from Python."""
