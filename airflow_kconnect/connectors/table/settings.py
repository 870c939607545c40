"""What a table sink is to do, whichever keys say so: its own, or those of Iceberg's connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

APPEND, UPSERT = "append", "upsert"
TOPIC, ROUTE, TABLE = "${topic}", "${route}", "${table}"
"""What stands for a name in the formats of names."""
NONE, KAFKA, RECORD_KEY, RECORD_VALUE = "none", "kafka", "record_key", "record_value"

METADATA = {part: f"__connect_{part}" for part in ("topic", "partition", "offset", "timestamp", "key")}
"""Parts of a record besides its value -> names of their columns, unless others are chosen."""

SCHEMALESS = ("json", "variant", "columns", "fail")
"""What can happen to values without a schema: a column of texts, of variants, one for each member, an error."""

KINDS = (ADD, WIDEN, OPTIONAL) = ("add", "widen", "optional")
"""Of changes of a table."""

DEAD_LETTERS = "__dlq"
"""At the end of the names of tables of bad records."""


@dataclass(frozen=True)
class CatalogSettings:
    """A catalog of Spark, configured for the run alone: its settings may be secret, and are set in the session.

    :param name: the first part of identifiers.
    :param conf: what follows ``spark.sql.catalog.<name>`` in the names of its settings: ``""`` is the class. Empty:
        Spark has the catalog.
    :param conf_dir: folder with Hadoop's own files of settings, on the machine of the driver.
    :param key: of the configuration, for errors: it names the catalog, and its settings are below it.
    """

    name: str
    conf: Mapping[str, str] = field(default_factory=dict, repr=False)
    conf_dir: str | None = None
    key: str = "table.catalog"


@dataclass(frozen=True)
class Routing:
    """Which table a record goes to. The first of these that is set decides. A record that no table gets is a bad one.

    :param value_field: path of the field of the value that names the table.
    :param header: name of the header that does.
    :param patterns: table -> regular expression: it gets the records whose `value_field` matches as a whole. Without a
        field, each of them gets all records whose expression matches nothing.
    :param name_format: with ``${topic}``, and ``${route}`` for what field or header say.
    :param prefix: what comes before each of these names, such as the catalog.
    :param lower_case: whether names that records give are in lower case.
    """

    name_format: str = "${topic}"
    value_field: str | None = None
    header: str | None = None
    patterns: Mapping[str, str] = field(default_factory=dict)
    prefix: tuple[str, ...] = ()
    lower_case: bool = False


@dataclass(frozen=True)
class OwnSettings:
    """What one table has of its own, in place of what is said for all; None: nothing."""

    keys: tuple[str, ...] | None = None
    partition_by: tuple[str, ...] | None = None


@dataclass(frozen=True)
class TableSettings:
    """All settings of one connector.

    :param catalog: None: the session's own (``spark_catalog``).
    :param evolution: ``fail``, ``evolve`` or ``ignore``, by kind of change: ``add``, ``widen``, ``optional``.
    :param metadata: Kafka's part of a record (topic, partition, offset, timestamp, key) -> name of its column.
    :param properties: of tables that are created. :param write_options: of Spark's writer.
    :param own: by the name of the table, as `Routing` names it, without its prefix.
    :param pk_mode: where `keys` are from. :param keys: no names: all fields.
    :param cdc_field: path of the field that says what has happened to a row: a text that begins with D deletes it.
    :param whitelist: fields of values to write; empty: all.
    :param schemaless: one of `SCHEMALESS`. :param value_column: of values that are not structs.
    :param dead_letter_table: bad records go to a table next to theirs.
    :param optional: whether columns are nullable even if fields are not.
    :param case_insensitive: whether fields find their columns in any case.
    :param creates_key: the key of `creates`, for errors.
    """

    connector: str
    format: str
    catalog: CatalogSettings | None
    routing: Routing
    mode: str = APPEND
    pk_mode: str = NONE
    keys: tuple[str, ...] = ()
    deletes: bool = False
    cdc_field: str | None = None
    creates: bool = True
    evolution: Mapping[str, str] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()
    location: str | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    write_options: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    whitelist: tuple[str, ...] = ()
    schemaless: str = "json"
    value_column: str = "record_value"
    dead_letter_table: bool = False
    own: Mapping[str, OwnSettings] = field(default_factory=dict)
    optional: bool = False
    case_insensitive: bool = False
    creates_key: str = "auto.create"

    def of(self, table: str) -> TableSettings:
        """The settings of one table, with what it has of its own."""
        return replace(self, keys=self.keys_of(table), partition_by=self.partition_of(table), own={})

    def keys_of(self, table: str) -> tuple[str, ...]:
        """Names of the columns that identify a row of a table."""
        own = self.own.get(table, OwnSettings()).keys
        return self.keys if own is None else own

    def partition_of(self, table: str) -> tuple[str, ...]:
        """What a table is partitioned by."""
        own = self.own.get(table, OwnSettings()).partition_by
        return self.partition_by if own is None else own
