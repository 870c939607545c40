"""Logins by tokens: a cloud that gives out credentials, and a broker that checks tokens made with them."""
