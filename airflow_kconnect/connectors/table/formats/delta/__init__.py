"""Delta Lake: a write is visible at once, and a transaction of our application is in the table once."""
