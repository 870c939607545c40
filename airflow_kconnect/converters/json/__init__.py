"""JsonConverter, its envelopes, and the reading and writing of its JSON."""
