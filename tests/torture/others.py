"""Other programs at work on a table: a Spark session of their own, which appends, compacts and expires."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_kconnect.connect.connector.upkeep import Step, TableUpkeep, Upkeep
from airflow_kconnect.connectors.table.formats.delta.upkeep import DeltaUpkeep
from airflow_kconnect.connectors.table.formats.iceberg.upkeep import IcebergUpkeep
from tests.support.spark.lakes import lakes_conf

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

APPEND, COMPACT, EXPIRE, UPKEEP = "foreign append", "foreign compaction", "all snapshots expire", "upkeep during a run"
FOREIGN = 1_000_000_000
"""The first of the ids and numbers of another writer."""

_CATALOG = "others"
_PLAN = "kconnect.plan."


def start_session() -> SparkSession:
    """One for all schedules: it takes as long to start as a run."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "700m",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "OFF",
        **lakes_conf(Path("unused")),
    }
    builder = SparkSession.builder.master("local[2]").appName("others")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


class OtherPrograms:
    """What they do to one table.

    :param warehouse: of Iceberg's catalog. :param name: of a table of Delta; None: it is Iceberg's `db.t`.
    """

    def __init__(self, spark: SparkSession, warehouse: str, name: str | None) -> None:
        self._spark, self._is_iceberg = spark.newSession(), name is None
        self._name = name or f"{_CATALOG}.db.t"
        catalog = f"spark.sql.catalog.{_CATALOG}"
        conf = {"": "org.apache.iceberg.spark.SparkCatalog", ".type": "hadoop", ".warehouse": warehouse}
        for key, value in {**conf, ".cache-enabled": "false"}.items():
            self._spark.conf.set(catalog + key, value)
        self.sure = self.unsure = range(FOREIGN, FOREIGN)
        """Numbers of the rows that were appended; and of those that may have been."""

    def do(self, what: str) -> bool:
        """False: there is no table yet, or other writers were faster."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        tasks: dict[str, Callable[[], object]] = {
            APPEND: self._append,
            COMPACT: self._compact,
            EXPIRE: self._expire,
            UPKEEP: self._upkeep,
        }
        try:
            tasks[what]()
        except (PySparkException, Py4JError):
            return False
        return True

    def _append(self) -> None:
        first = self.unsure.stop
        self.unsure = range(FOREIGN, first + 3)
        values = ", ".join(f"({n}, {n})" for n in range(first, first + 3))
        self._spark.sql(f"INSERT INTO {self._name} (id, n) VALUES {values}")
        self.sure = self.unsure

    def _compact(self) -> None:
        if self._is_iceberg:
            everything = "options => map('rewrite-all', 'true')"
            self._spark.sql(f"CALL {_CATALOG}.system.rewrite_data_files(table => 'db.t', {everything})")
        else:
            self._spark.sql(f"OPTIMIZE {self._name}")

    def _expire(self) -> None:
        """All but the current snapshot, also what is staged."""
        later = f"TIMESTAMP '{time.strftime('%Y-%m-%d', time.gmtime(time.time() + 86_400))}'"
        self._spark.sql(
            f"CALL {_CATALOG}.system.expire_snapshots(table => 'db.t', older_than => {later}, retain_last => 1)"
        )

    def _upkeep(self) -> None:
        """Ours, without the limits in time that keep it from what is young."""
        steps = [step.value for step in (Step.COMPACT, Step.METADATA, Step.EXPIRE)]
        order = TableUpkeep(Upkeep(steps if self._is_iceberg else steps[:2]), int(time.time() * 1000), self._plans())
        (IcebergUpkeep if self._is_iceberg else DeltaUpkeep)(self._spark, self._name, order).run()

    def _plans(self) -> tuple[str, ...]:
        """The applications that have written the table."""
        if not self._is_iceberg:
            return ()
        properties = [row["key"] for row in self._spark.sql(f"SHOW TBLPROPERTIES {self._name}").collect()]
        return tuple(key.removeprefix(_PLAN) for key in properties if key.startswith(_PLAN))
