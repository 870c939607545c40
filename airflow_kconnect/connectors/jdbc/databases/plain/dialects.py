"""Peculiarities of single databases among those that are written through plain JDBC."""

from __future__ import annotations

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP
from airflow_kconnect.connectors.jdbc.databases.plain.writing import PlainTarget
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table
from airflow_kconnect.connectors.jdbc.sink.rows_target import Statement


class H2Target(PlainTarget):
    """H2 2."""

    max_parts = 2
    key_text = "VARCHAR"
    types = {
        **PlainTarget.types,
        "INT8": "TINYINT",
        "STRING": "VARCHAR",
        "BYTES": "VARBINARY",
        DECIMAL: "DECIMAL(100,{scale})",
        TIME: "TIME(3)",
    }

    def merge(self, table: Table, layout: RowLayout) -> Statement:
        marks = ", ".join("?" * len(layout.names))
        into = f"{self.quoted(table)} ({self.listed(layout.names)})"
        return f"MERGE INTO {into} KEY ({self.listed(layout.keys)}) VALUES ({marks})", layout.names


class DerbyTarget(PlainTarget):
    """Derby 10.16."""

    max_parts = 2
    # Its driver does not know java.time.
    moments_are_texts = True
    types = {**PlainTarget.types, "STRING": "VARCHAR(32672)", "BYTES": "BLOB(64000)"}


class HsqldbTarget(PlainTarget):
    """HSQLDB 2.7."""

    # It has one catalog.
    max_parts = 2
    # Texts are dates of its calendar, which is the Julian one before 1582, objects of java.time others then.
    moments_are_texts = True
    small_numbers_are_texts = True
    # Its indices have no limit; a LONGVARCHAR can be a CLOB there, which is no key.
    key_text = "VARCHAR(32768)"
    types = {
        **PlainTarget.types,
        "INT8": "TINYINT",
        "STRING": "LONGVARCHAR",
        "BYTES": "LONGVARBINARY",
        DECIMAL: "DECIMAL(100,{scale})",
        TIME: "TIME(3)",
    }


class SqlServerTarget(PlainTarget):
    """SQL Server, which compares names and text keys without regard to case unless configured otherwise."""

    add_column = "ADD"
    key_text = "NVARCHAR(450)"
    # Names of connectors and topics differ by case.
    offset_types = ("NVARCHAR(255) COLLATE Latin1_General_BIN2", "BIGINT")
    types = {
        "INT8": "SMALLINT",
        "INT16": "SMALLINT",
        "INT32": "INT",
        "INT64": "BIGINT",
        "FLOAT32": "REAL",
        "FLOAT64": "FLOAT",
        "BOOLEAN": "BIT",
        "STRING": "NVARCHAR(MAX)",
        "BYTES": "VARBINARY(MAX)",
        DECIMAL: "DECIMAL(38,{scale})",
        DATE: "DATE",
        TIME: "TIME(3)",
        TIMESTAMP: "DATETIME2",
    }

    def same_name(self, name: str) -> str:
        return name.lower()

    def truth(self, value: bool) -> str:
        return str(int(value))


class OracleTarget(PlainTarget):
    """Oracle 19 and later; its dates have a time of day, so times are intervals."""

    max_parts = 2
    add_column = "ADD"
    key_text = "VARCHAR2(255)"
    offset_types = ("VARCHAR2(255)", "NUMBER(19)")
    types = {
        "INT8": "NUMBER(3)",
        "INT16": "NUMBER(5)",
        "INT32": "NUMBER(10)",
        "INT64": "NUMBER(19)",
        "FLOAT32": "BINARY_FLOAT",
        "FLOAT64": "BINARY_DOUBLE",
        "BOOLEAN": "NUMBER(1)",
        "STRING": "CLOB",
        "BYTES": "BLOB",
        DECIMAL: "NUMBER(38,{scale})",
        DATE: "DATE",
        TIME: "VARCHAR2(12)",
        TIMESTAMP: "TIMESTAMP",
    }

    def truth(self, value: bool) -> str:
        return str(int(value))
