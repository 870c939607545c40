"""Tables whose numbering has begun again below their offset: emptied, restored, loaded again."""

from __future__ import annotations

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.jdbc.driver.connection import Database
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.dialect import Dialect
from airflow_kconnect.connectors.jdbc.source.settings import SourceSettings
from airflow_kconnect.runs.warnings import Kind, RunWarning

_CURES = (
    "Set `on.renumbered=restart` to read it from the beginning, `ignore` if others than the database number its rows,"
    " or alter the connector's offset"
)
_IGNORE = "`on.renumbered=ignore` turns this warning off"


class Numbering:
    """Compares offsets with the numbers that rows have, and will get.

    That the highest number is below the offset proves nothing, since the newest rows may have been deleted. What counts
    is the number that the next row will get, where the database says it.
    """

    def __init__(self, db: Database, dialect: Dialect, settings: SourceSettings) -> None:
        self._db, self._dialect, self._settings = db, dialect, settings
        self._policy: str = settings.values["on.renumbered"]
        self.warnings: list[RunWarning] = []

    def restarts(self, source: Source, highest: int | None, done: int) -> bool:
        """Whether a table is to be read from its beginning.

        :param highest: number of a row; None: the table is empty.
        :param done: the offset.
        :raises DataError: numbering began again, and the user must decide.
        """
        if self._policy == "ignore" or (highest is not None and highest >= done):
            return False
        following = self._dialect.next_number(self._db, source.table, source.cursor.id_name or "")
        if following is None:
            self._warn(source, highest, done)
            return False
        if following > done:
            return False
        what = (
            f"table {source.text} gives its next row the number {following}, and was read up to {done}: it was emptied,"
            " restored or loaded again"
        )
        if self._policy == "fail":
            raise DataError(f"{self._settings.label}: {what}. Rows up to {done} would never be read. {_CURES}")
        self.warnings.append(RunWarning(Kind.SOURCE, f"{what}. It is read from the beginning"))
        return True

    def _warn(self, source: Source, highest: int | None, done: int) -> None:
        if highest is not None:
            text = (
                f"the highest number in {source.text} is {highest}, and it was read up to {done}. If rows were deleted,"
                f" that is right; if numbering began again, rows up to {done} will never be read: alter the connector's"
                f" offset. {_IGNORE}"
            )
            self.warnings.append(RunWarning(Kind.SOURCE, text))
