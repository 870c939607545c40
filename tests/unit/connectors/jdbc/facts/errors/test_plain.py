"""What errors of databases mean that are known by JDBC alone."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.jdbc.databases.plain.writing import without_values
from airflow_kconnect.connectors.jdbc.facts.condition import Condition
from airflow_kconnect.connectors.jdbc.facts.registry import database_of


@pytest.mark.parametrize(
    ("database", "number", "message", "condition"),
    [
        ("h2", 90067, 'Connection is broken: "java.net.ConnectException"', Condition.PASSING),
        ("h2", 90020, "Database may be already in use", Condition.PASSING),
        ("h2", 90149, 'Database "x" not found', Condition.DATABASE),
        ("h2", 42102, 'Table "T" not found', None),
        ("hsqldb", -458, "General error: database alias does not exist", Condition.DATABASE),
        ("hsqldb", -458, "General error", None),
        ("hsqldb", -465, "Database does not exists: x", Condition.DATABASE),
        ("hsqldb", -451, "Database lock acquisition failure: lockFile: x", Condition.PASSING),
        ("hsqldb", -5501, "user lacks privilege or object not found: T", Condition.LASTING),
        ("hsqldb", 3401, "data exception: string data, right truncation", None),
        (
            "derby",
            40000,
            "Connection authentication failure occurred. Reason: Invalid authentication.",
            Condition.LOGIN,
        ),
        ("derby", 40000, "Database '/x' not found.", Condition.DATABASE),
        ("derby", 45000, "Another instance of Derby may have already booted the database /x.", Condition.DATABASE),
        ("derby", 30000, "Table/View 'T' does not exist.", None),
        ("sqlserver", 18456, "Login failed for user 'sa'.", Condition.LOGIN),
        ("sqlserver", 1205, "Transaction was deadlocked", Condition.PASSING),
        ("sqlserver", 2628, "String or binary data would be truncated", Condition.ROW),
        ("oracle", 1017, "ORA-01017: invalid username/password", Condition.LOGIN),
        ("oracle", 12541, "ORA-12541: Cannot connect. No listener", Condition.PASSING),
        ("oracle", 12899, "ORA-12899: value too large for column", Condition.ROW),
        ("other", 1, "anything", None),
    ],
)
def test_of_numbers_and_texts(database: str, number: int, message: str, condition: Condition | None) -> None:
    assert database_of(database).condition(number, message) is condition


@pytest.mark.parametrize(
    ("state", "text", "said"),
    [
        ("23505", "violation: PRIMARY KEY ON t(id) ( /* key:1 */ 1, 'canary')", "a row with that key exists already"),
        ("23502", 'NULL not allowed for column "name"', "column name must not be null"),
        ("23502", 'NOT NULL check constraint ; SYS_CT_1 table: "t" column: "name"', "column name must not be null"),
        ("23502", "NULL is not allowed here", "a column must not be null"),
        ("23000", "ORA-00001: unique constraint (X) violated on 'canary'", "a constraint refuses the row"),
        ("22001", 'Value too long for column "name": "\'canary\' (6)"', "a value does not fit into its column"),
    ],
)
def test_texts_of_refused_rows_do_not_quote_values(state: str, text: str, said: str) -> None:
    shortened = without_values(state, 7, text)
    assert shortened.startswith(said)
    assert f"(SQL state {state}, error 7)" in shortened
    assert "canary" not in shortened
