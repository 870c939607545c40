"""What several rooms log in with: sessions of clouds, and Java's stores of certificates and keys."""
