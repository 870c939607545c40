"""A table in timestamp mode whose writers are as they are in life: clocks that lag, coarse columns, late commits."""

from __future__ import annotations

import time
from typing import Any

from tests.torture.connectors import PostgresSource

_DELAY_S = 2.0


class TimestampSource(PostgresSource):
    """Rows get their timestamp from a clock that may lag behind the database's by less than the delay; some of each
    step are in a transaction that stays open until the next step.
    """

    kind = "JDBC source, timestamps"

    def prepare(self) -> None:
        super().prepare()
        self._digits = self.rng.choice((0, 3, 6))
        self._lag_s = self.rng.choice((0.0, 1.5))
        self._mode = self.rng.choice(("timestamp", "timestamp+incrementing"))
        self._open: list[Any] = []
        self.database.execute(f"ALTER TABLE t ADD updated timestamptz({self._digits}) NOT NULL")
        if self._digits < 6:
            self.struck["coarse timestamps"] += 1
        if self._lag_s:
            self.struck["lagging clock"] += 1

    def config(self) -> dict[str, str]:
        return {
            **super().config(),
            "mode": self._mode,
            "timestamp.column.name": "updated",
            "timestamp.delay.interval.ms": str(round(_DELAY_S * 1000)),
        }

    def write(self, numbers: range) -> None:
        """Two thirds are committed at once; the transaction of the others begins before them."""
        late, soon = numbers[::3], [number for k, number in enumerate(numbers) if k % 3]
        self._commit_open()
        connection = self.database.connect()
        connection.autocommit = False
        self._insert(connection, late)
        self._open.append(connection)
        with self.database.connect() as other:
            self._insert(other, soon)
        self.struck["late commit"] += 1

    def settle(self) -> None:
        self._commit_open()
        # Rows are moved once the delay is over, here that of the coarsest column too.
        time.sleep(_DELAY_S + 1.5)

    def _insert(self, connection: Any, numbers: Any) -> None:
        with connection.cursor() as cursor:
            for number in numbers:
                cursor.execute(
                    "INSERT INTO t (n, updated) VALUES (%s, clock_timestamp() - %s * interval '1 second')",
                    (number, self._lag_s),
                )

    def _commit_open(self) -> None:
        while self._open:
            connection = self._open.pop()
            connection.commit()
            connection.close()
