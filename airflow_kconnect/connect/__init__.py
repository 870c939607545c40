"""The contract that authors of connectors, converters and transformations see; standard library only.

In the order in which to read it: `config/` (keys), `data` (schemas), `record` and `frame` (records one by one, and as
columns), `connector/` (connectors and their tasks), `errors` and `error_cells` (what may go wrong, and for which
record), `replay` (an interval that is moved again), `token_provider` (logins with tokens).
"""
