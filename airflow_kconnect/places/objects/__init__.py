"""The stores of Google and Azure."""
