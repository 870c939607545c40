"""One module per format: what columns a file has, how it can be cut, and its rows as Arrow arrays."""
