"""What is known of particular Java classes."""
