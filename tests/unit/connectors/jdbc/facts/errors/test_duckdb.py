"""What errors of DuckDB mean, by the kind that their texts begin with."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.jdbc.facts.condition import Condition
from airflow_kconnect.connectors.jdbc.facts.errors.duckdb import by_kind


@pytest.mark.parametrize(
    ("text", "condition"),
    [
        ("IO Error: Could not set lock on file '/d/a.duckdb': Conflicting lock is held", Condition.PASSING),
        ("IO Error: Could not write file '/d/a.duckdb': No space left on device", Condition.PASSING),
        ("IO Error: Cannot open file '/d/a.duckdb': No such file or directory", Condition.DATABASE),
        ("TransactionContext Error: Conflict on tuple deletion!", Condition.PASSING),
        ("Constraint Error: Duplicate key 'id: 1' violates primary key constraint.", Condition.ROW),
        ("java.sql.SQLException: Conversion Error: Could not convert string 'x' to INT64", Condition.ROW),
        ("Catalog Error: Table with name t does not exist!", None),
        ("something else", None),
    ],
)
def test_condition_of_an_error(text: str, condition: Condition | None) -> None:
    assert by_kind(text) is condition
