"""Logins of Kafka clients by tokens: who gives them, and how a client gets at them."""
