"""The demo's folder: the files in it, and the check that only a folder of the demo is ever cleared."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from airflow_kconnect.machine.errors import SetupError, readable_os_errors

_MARK = ".kconnect-demo"
_MARK_TEXT = "A folder of `kconnect demo`: the next demo removes what the last one left here.\n"


@dataclass(frozen=True)
class DemoFolder:
    """Everything that a demo writes, except the download cache.

    :param path: the absolute path of the folder.
    """

    path: Path

    @property
    def data(self) -> Path:
        """What the pipelines read and write."""
        return self.path / "data"

    @property
    def broker(self) -> Path:
        """Kafka's data folder."""
        return self.path / "broker"

    @property
    def airflow(self) -> Path:
        """Airflow's home."""
        return self.path / "airflow"

    @property
    def dags(self) -> Path:
        """Copies of the example DAGs."""
        return self.path / "dags"

    @property
    def log(self) -> Path:
        """Airflow's log, including those of the tasks."""
        return self.path / "airflow.log"

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Create the folder if necessary, and lock it against other demos.

        :raises SetupError: the folder contains something else, another demo uses it, or it is not writable.
        """
        with readable_os_errors(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            mark = self.path / _MARK
            if not mark.exists() and any(self.path.iterdir()):
                raise SetupError(
                    f"{self.path} is not empty and was not created by the demo: choose another --folder or remove it."
                )
            mark.write_text(_MARK_TEXT)
            lock = mark.open()
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise SetupError(
                    f"Another demo is running in {self.path}: wait for it, or choose another --folder."
                ) from None
            yield

    def clear(self) -> None:
        """Remove what the last demo left behind. Airflow's database stays, since creating it takes time.

        :raises SetupError: something cannot be removed.
        """
        with readable_os_errors(self.path):
            for folder in (self.data, self.broker, self.dags):
                if folder.exists():
                    shutil.rmtree(folder)
                folder.mkdir()


def example_dag(dag_id: str) -> Path:
    """The file of an example DAG: in a wheel inside the package, otherwise in `dags/` at the top of the repository.

    :raises SetupError: it is in neither location.
    """
    package = Path(__file__).parents[1]
    for folder in (package / "example_dags", package.parent / "dags"):
        if (path := folder / f"{dag_id}.py").is_file():
            return path
    raise SetupError(f"example_dags/{dag_id}.py is missing below {package}: install airflow-kconnect again.")
