"""Connect's VerifiableSource and VerifiableSink: count, and write down what was counted."""
