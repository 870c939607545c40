"""JsonConverter, its envelopes, and the JSON that it reads and writes."""
