"""Logins to clouds that several rooms share."""
