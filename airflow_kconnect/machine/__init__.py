"""What this machine has: Java, Spark, downloads, a cache, processes."""
