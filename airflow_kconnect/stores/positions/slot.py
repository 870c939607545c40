"""The replication slot of a Debezium connector for PostgreSQL: how much WAL it keeps, who uses it, whether it is lost.

Between two runs the slot is what keeps the changes: PostgreSQL removes no WAL that it still needs, unless
`max_slot_wal_keep_size` says so. Read with psycopg and the connector's own `database.*` keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.errors import ConfigError, RetriableError, first_line
from airflow_kconnect.credentials.refused_logins import login_refused
from airflow_kconnect.stores.positions.condition import Condition, Finding

if TYPE_CHECKING:
    from psycopg import Connection

    from airflow_kconnect.stores.positions.positions import ConnectorPositions

_DEFAULT_SLOT, _DEFAULT_PORT = "debezium", "5432"
_REQUIRED = ("database.hostname", "database.user", "database.dbname")
_SSL = ("sslmode", "sslrootcert", "sslcert", "sslkey", "sslpassword")
_CONNECT_SECONDS = 10
# A run with one of these takes all rows again where the slot or its WAL is gone.
_MODES_WITH_NEW_SNAPSHOT = ("always", "when_needed")
_CURE = (
    "The changes since then are lost: set `snapshot.mode` to `when_needed` for a run that reads the tables again, or "
    "reset the connector's offsets"
)

# On a standby nothing is written: there the end is what it has received.
_QUERY = """
with now as (
  select case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end as lsn
)
select s.database, s.active_pid, concat_ws(' of ', nullif(a.application_name, ''), host(a.client_addr)),
       s.wal_status, s.safe_wal_size,
       pg_wal_lsn_diff(now.lsn, s.restart_lsn)::bigint, pg_wal_lsn_diff(now.lsn, s.confirmed_flush_lsn)::bigint
from now cross join pg_replication_slots s left join pg_stat_activity a on a.pid = s.active_pid
where s.slot_name = %s
"""


@dataclass(frozen=True)
class SlotAddress:
    """Where the slot of a connector is. Its repr shows no password.

    :param settings: what psycopg needs besides.
    """

    slot: str
    host: str
    port: str
    database: str
    user: str
    password: str | None = field(default=None, repr=False)
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> SlotAddress:
        """From the keys of Debezium's PostgreSQL connector, variables resolved.

        :raises ConfigError: keys are missing; all are named.
        """
        missing = [key for key in _REQUIRED if not str(config.get(key) or "").strip()]
        if missing:
            text = "is missing: only Debezium's connector for PostgreSQL has a replication slot"
            raise ConfigError({key: [text] for key in missing}, str(config.get("name") or "") or None)
        texts = {key: str(value).strip() for key, value in config.items() if value is not None}
        return cls(
            texts.get("slot.name") or _DEFAULT_SLOT,
            texts["database.hostname"],
            texts.get("database.port") or _DEFAULT_PORT,
            texts["database.dbname"],
            texts["database.user"],
            None if config.get("database.password") is None else str(config["database.password"]),
            {name: texts[f"database.{name}"] for name in _SSL if texts.get(f"database.{name}")},
        )

    @property
    def server(self) -> str:
        """The server, for messages."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Slot:
    """What PostgreSQL says about a slot.

    :param active_pid: the process of the server that sends its changes to a client; None if no one reads it.
    :param client: name and address of that client, as far as the user may see it.
    :param wal_status: `reserved`, `extended`, `unreserved` (WAL may go at the next checkpoint) or `lost`.
    :param safe_bytes: how much more can be written before it is in danger of being lost; None: there is no limit.
    :param kept_bytes: how much WAL the server keeps for it; None if it is lost.
    :param behind_bytes: how much was written since the last change that the connector has confirmed.
    """

    name: str
    database: str
    active_pid: int | None
    client: str
    wal_status: str
    safe_bytes: int | None
    kept_bytes: int | None
    behind_bytes: int | None

    @property
    def lost(self) -> bool:
        """Whether WAL that it needs was removed: no connector can continue with it."""
        return self.wal_status == "lost"

    def facts(self) -> dict[str, Any]:
        """Small, JSON: for XCom and reports."""
        facts = {"slot": self.name, "kept_bytes": self.kept_bytes, "behind_bytes": self.behind_bytes}
        facts |= {"wal_status": self.wal_status, "safe_bytes": self.safe_bytes, "active_pid": self.active_pid}
        return {key: value for key, value in facts.items() if value is not None}

    def warning(self) -> str | None:
        """What needs attention; None if nothing does."""
        if self.wal_status != "unreserved":
            return None
        return (
            f"Replication slot `{self.name}` keeps {size_text(self.kept_bytes or 0)} of WAL, more than the server may "
            "keep for it (`max_slot_wal_keep_size`): unless a run reads it before the next checkpoint, it is lost."
        )


def read_slot(address: SlotAddress) -> Slot | None:
    """The slot as it is now; None if there is none of this name. Blocks.

    :raises ConfigError: psycopg is missing, or the server refuses the user or the database.
    :raises RetriableError: the server is unavailable.
    """
    with connect(address) as connection:
        import psycopg

        try:
            row = connection.execute(_QUERY, (address.slot,)).fetchone()
        except psycopg.Error as error:
            raise translated(error, address) from None
    return None if row is None else Slot(address.slot, *row)


def connect(address: SlotAddress) -> Connection[tuple[Any, ...]]:
    """A connection that commits each statement; errors as in `read_slot`."""
    try:
        import psycopg
    except ImportError:
        cure = "pip install 'airflow-kconnect[jdbc]'"
        raise ConfigError({"slot.name": [f"the slot can only be read with psycopg: {cure}"]}) from None
    try:
        return psycopg.connect(
            host=address.host,
            port=address.port,
            dbname=address.database,
            user=address.user,
            password=address.password,
            application_name="kconnect",
            connect_timeout=_CONNECT_SECONDS,
            autocommit=True,
            **address.settings,  # type: ignore[arg-type]
        )
    except psycopg.Error as error:
        raise translated(error, address) from None


def check_slot(config: Mapping[str, Any], slot: Slot | None, *, has_offsets: bool) -> None:
    """Whether a run can continue with the slot; asked before it starts.

    :param config: the connector's configuration.
    :param has_offsets: whether the connector has committed source offsets.
    :raises ConfigError: the slot is gone although there are offsets, or its WAL was removed.
    :raises RetriableError: another process reads it.
    """
    connector, name = str(config.get("name") or "") or None, str(config.get("slot.name") or _DEFAULT_SLOT)
    starts_again = str(config.get("snapshot.mode") or "").strip().lower() in _MODES_WITH_NEW_SNAPSHOT
    if slot is None:
        if has_offsets and not starts_again:
            gone = f"replication slot `{name}` does not exist, but the connector has offsets: it was dropped. {_CURE}"
            raise ConfigError({"slot.name": [gone]}, connector)
    elif slot.lost:
        drop = f"select pg_drop_replication_slot('{name}')"
        lost = f"replication slot `{name}` has lost WAL that was not read yet (`max_slot_wal_keep_size`). {_CURE}"
        raise ConfigError({"slot.name": [f"{lost}; before that, drop the slot: {drop}"]}, connector)
    elif slot.active_pid is not None:
        client = f" ({slot.client})" if slot.client else ""
        raise RetriableError(
            f"Replication slot `{name}` is in use by process {slot.active_pid} of the database{client}: another run or "
            "another connector reads it. Each connector needs a `slot.name` of its own; after a crash the server "
            "releases it within `wal_sender_timeout`."
        )


@dataclass(frozen=True)
class SlotCondition(Condition):
    """A slot keeps at least, or at most, this much WAL.

    A connector that never ran has no slot yet; this meets both conditions.

    :raises ConfigError: not exactly one bound, or a negative one.
    """

    kind: ClassVar[str] = "slot"
    needs: ClassVar[tuple[str, ...]] = ("database.", "slot.name", "snapshot.mode")

    min_bytes: int | None = None
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        given = {key: n for key, n in (("min_bytes", self.min_bytes), ("max_bytes", self.max_bytes)) if n is not None}
        errors = {key: ["must not be negative"] for key, n in given.items() if n < 0}
        if len(given) != 1:
            errors["min_bytes"] = ["wait either for WAL that the slot keeps (`min_bytes`) or for its end (`max_bytes`)"]
        if errors:
            raise ConfigError(errors)

    def look(self, connector: ConnectorPositions) -> Finding:
        """See `Condition.look`."""
        address = SlotAddress.of(connector.config)
        slot = read_slot(address)
        if slot is None or slot.lost:
            check_slot(connector.config, slot, has_offsets=bool(connector.source()))
        if slot is None:
            return Finding(True, {"connector": connector.name, "slot": address.slot, "exists": False})
        facts = {"connector": connector.name, **slot.facts()}
        if warning := slot.warning():
            facts["warning"] = warning
        return Finding(self.met(slot.kept_bytes or 0), facts)

    def met(self, kept_bytes: int) -> bool:
        """Whether an amount of WAL satisfies the bound."""
        if self.min_bytes is not None:
            return kept_bytes >= self.min_bytes
        return self.max_bytes is not None and kept_bytes <= self.max_bytes


def size_text(count: int) -> str:
    """A number of bytes for people, as `12.3 MB`."""
    size = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def translated(error: Exception, address: SlotAddress) -> ConfigError | RetriableError:
    """psycopg's error in our terms."""
    state, text = getattr(error, "sqlstate", None) or "", first_line(error)
    if state.startswith("28") or "authentication failed" in text or "no password" in text:
        return login_refused(address.server, address.user, text, keys="database")
    if state == "3D000" or 'database "' in text:
        return ConfigError({"database.dbname": [f"{address.server}: {text}"]})
    if state == "42703":
        return ConfigError(
            {"slot.name": [f"{address.server} is older than PostgreSQL 13, whose slots this cannot read"]}
        )
    return RetriableError(f"the database at {address.server} is unavailable: {text}")
