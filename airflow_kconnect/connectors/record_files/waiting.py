"""What the sensor for new files waits for, as data. DAG files import this module."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from airflow_kconnect.connect.config.types import texts_of
from airflow_kconnect.connect.connector.source import PlanContext
from airflow_kconnect.connect.errors import ConfigError, InternalError
from airflow_kconnect.connectors.record_files.config import files_config
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.stores.positions.condition import Condition, Finding

if TYPE_CHECKING:
    from airflow_kconnect.stores.positions.positions import ConnectorPositions

_SHOWN = 20
_OTHER_NAMES = ("input.path", "input.path.walk.recursively")
"""Keys by which sources of connect-spooldir say which files they read, and which `FilesSource` does not have."""


class _Files(Protocol):
    """What it asks a files source, whose module is loaded only by its name."""

    def unread(self, context: PlanContext) -> list[str]: ...

    def finished(self) -> None: ...


@dataclass(frozen=True)
class NewFilesCondition(Condition):
    """A files source has at least this many files that it has not read to their ends.

    :raises ConfigError: fewer than one.
    """

    kind: ClassVar[str] = "new_files"
    needs: ClassVar[tuple[str, ...]] = ("connector.class", *files_config().keys, *_OTHER_NAMES)

    min_files: int = 1

    def __post_init__(self) -> None:
        if self.min_files < 1:
            raise ConfigError({"min_files": ["must be greater than 0"]})

    def look(self, connector: ConnectorPositions) -> Finding:
        """See `Condition.look`. Files are listed, and none is opened.

        :raises DataError: a file that was read has changed, which would fail a run as well.
        """
        source = _source(connector)
        context = PlanContext(connector.source(), {}, None, None, _no_spark, _no_spark)
        try:
            found = source.unread(context)
        finally:
            source.finished()  # a triggerer looks for months: it must not be left with connections
        position = {"connector": connector.name, "files": len(found), "names": found[:_SHOWN]}
        return Finding(len(found) >= self.min_files, position)


def _source(connector: ConnectorPositions) -> _Files:
    props, _ = texts_of(connector.config)
    name = props.get("connector.class", "")
    if not name or not hasattr(found := registry().connector(name), "unread"):
        text = f"is {name or 'missing'}: only FilesSource has files that it has read or not, also as SpoolDir..."
        raise ConfigError({"connector.class": [text]}, connector.name)
    return cast("_Files", found(props))


def _no_spark() -> Any:
    raise InternalError("files must be listed without Spark")
