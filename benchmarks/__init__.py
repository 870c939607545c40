"""Side by side with Kafka Connect itself: the same work, the same machine, one run; only the ratios mean something."""
