"""The parsed configuration of a JDBC source, typed and named for the code that uses it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from airflow_kconnect.connectors.jdbc.driver.connection import Account
from airflow_kconnect.connectors.jdbc.driver.drivers import driver_properties
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.driver.zones import zone_name
from airflow_kconnect.connectors.jdbc.source.columns import GRANULARITIES, Granularity
from airflow_kconnect.connectors.jdbc.source.config import Mode
from airflow_kconnect.connectors.jdbc.source.dialect import TableFilter


@dataclass(frozen=True)
class SourceSettings:
    """See `source.config` for what the values mean.

    :param properties: for the JDBC driver, with user and password.
    :param initial_key: name of the key for the first timestamp.
    :param initial_timestamp_ms: None is the epoch, -1 is now.
    :param initial_id_given: whether the user has chosen `incrementing.initial`.
    """

    name: str
    url: JdbcUrl
    properties: Mapping[str, str] = field(repr=False)
    props: Mapping[str, str] = field(repr=False)
    values: Mapping[str, Any] = field(repr=False)
    mode: Mode
    initial_key: str
    initial_timestamp_ms: int | None
    initial_id_given: bool
    granularity: Granularity
    numeric_mapping: str

    @classmethod
    def of(
        cls, props: Mapping[str, str], values: Mapping[str, Any], initial_key: str, known: frozenset[str]
    ) -> SourceSettings:
        """:raises ConfigError: `connection.*` properties that could load code."""
        properties = driver_properties(props, known)
        for key, name in (("connection.user", "user"), ("connection.password", "password")):
            if values[key] is not None:
                properties[name] = str(getattr(values[key], "value", values[key]))
        precision = "precision_only" if values["numeric.precision.mapping"] else "none"
        return cls(
            name=props.get("name", ""),
            url=JdbcUrl.parse(values["connection.url"]),
            properties=properties,
            props=props,
            values=values,
            mode=Mode.of(values["mode"]),
            initial_key=initial_key,
            initial_timestamp_ms=values[initial_key],
            initial_id_given="incrementing.initial" in props,
            granularity=GRANULARITIES[values["timestamp.granularity"].lower()],
            numeric_mapping=(values["numeric.mapping"] or precision).lower(),
        )

    @property
    def account(self) -> Account:
        """The database and the user, for messages."""
        return Account(self.name, self.url.shown, self.url.subprotocol, self.properties.get("user"))

    @property
    def label(self) -> str:
        """Names the connector and its database in messages."""
        return self.account.label

    @property
    def scope(self) -> TableFilter:
        """Where tables are looked for."""
        values = self.values
        return TableFilter(values["catalog.pattern"], values["schema.pattern"], tuple(values["table.types"]))

    @property
    def everything(self) -> TableFilter:
        """All tables."""
        return TableFilter(None, None, tuple(self.values["table.types"]))

    @property
    def zone(self) -> ZoneInfo | None:
        """Zone of timestamps that do not know theirs; None is UTC."""
        return None if self.zone_name == "UTC" else ZoneInfo(self.zone_name)

    @property
    def zone_name(self) -> str:
        """Its name."""
        return zone_name(self.values["db.timezone"])

    @property
    def isolation(self) -> str:
        """`transaction.isolation.mode`, in capitals."""
        isolation: str = self.values["transaction.isolation.mode"]
        return isolation.upper()

    @property
    def query(self) -> str:
        """The query to read, or nothing."""
        masked = self.values["query.masked"]
        text = str(self.values["query"] or getattr(masked, "value", masked) or "")
        return text.strip().rstrip(";").rstrip()
