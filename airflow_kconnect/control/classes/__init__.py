"""The installed plug-ins and what their classes say: lists, keys, validation."""
