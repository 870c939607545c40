"""Rules between the keys of the JDBC sinks."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.changes import EVOLVE, SCHEMA_CHANGE
from airflow_kconnect.connectors.jdbc.driver.drivers import CLASS, COORDINATES, PATH, driver_of
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl, subprotocol_of
from airflow_kconnect.connectors.jdbc.facts.registry import database_of
from airflow_kconnect.connectors.jdbc.sink.config import KAFKA, NONE, RECORD_KEY, UPDATE, UPSERT
from airflow_kconnect.connectors.jdbc.sink.naming import table_name
from airflow_kconnect.variables.syntax import has_reference


def rule_errors(definition: ConfigDef, props: Mapping[str, str]) -> dict[str, list[str]]:
    """What is wrong between keys that are right on their own."""
    values = {value.name: value.value for value in definition.validate(props) if not value.errors}
    errors: dict[str, list[str]] = {}

    def add(key: str, text: str) -> None:
        errors.setdefault(key, []).append(text)

    pk_mode, mode = str(values.get("pk.mode")).lower(), str(values.get("insert.mode")).lower()
    if values.get("delete.enabled") and pk_mode != RECORD_KEY:
        add("delete.enabled", f"needs `pk.mode` record_key (it is {pk_mode}): rows are deleted by the record's key")
    if mode in (UPSERT, UPDATE) and pk_mode == NONE:
        add("pk.mode", f"is none, but `insert.mode` {mode} needs a primary key: set kafka, record_key or record_value")
    evolves, changes = props.get("auto.evolve"), str(values.get(SCHEMA_CHANGE) or "").lower()
    if evolves is not None and changes and values.get("auto.evolve") != (changes == EVOLVE):
        add(SCHEMA_CHANGE, f"is {changes}, but `auto.evolve` is {evolves}: leave `auto.evolve` out")
    fields = [name for name in values.get("pk.fields") or () if name]
    if pk_mode == KAFKA and len(fields) not in (0, 3):
        add("pk.fields", f"has {len(fields)} names; with `pk.mode` kafka it is empty or names three columns: topic, "
            "partition, offset")  # fmt: skip
    for key in ("table.name.format", "offsets.table"):
        if text := values.get(key):
            try:
                table_name(text)
            except ValueError as error:
                add(key, f"{text!r} is not the name of a table: {error}")
    return errors | _driver_errors(props)


def _driver_errors(props: Mapping[str, str]) -> dict[str, list[str]]:
    """What is missing of the JDBC driver of a database that is not written to by a Python driver."""
    try:
        url = JdbcUrl.parse(props.get("connection.url", ""))
        if database_of(url.subprotocol).is_written_by_jdbc:
            driver_of(url, props)
    except ConfigError as error:
        return error.errors
    except ValueError:  # the key's own error, or a variable
        return {}
    return {}


def driver_warnings(props: Mapping[str, str]) -> list[str]:
    """Keys of a JDBC driver that is not used."""
    given = [key for key in (CLASS, COORDINATES, PATH) if props.get(key)]
    url = props.get("connection.url", "")
    if has_reference(url) or not given or database_of(subprotocol_of(url)).is_written_by_jdbc:
        return []
    return [f"`{key}` has no effect: {subprotocol_of(url)} is written to by a Python driver" for key in given]
