"""What this machine provides: Java, Spark, downloads, a cache, processes."""
