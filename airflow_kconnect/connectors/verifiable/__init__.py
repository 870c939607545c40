"""Connect's VerifiableSource and VerifiableSink: count, and log what was counted."""
