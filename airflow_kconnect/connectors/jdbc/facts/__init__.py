"""What is known about databases without Spark and without their drivers."""
