"""Fixtures for every test: one real Kafka broker for the whole run, and names that no one else uses."""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.testing
from hypothesis import settings

from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.local.registry import LocalRegistry
from airflow_kconnect.machine.spark_home import use_whole_pyspark
from tests.support import unique
from tests.support.cpu_seconds import CpuSeconds
from tests.support.databases import mariadb as mariadb_support
from tests.support.databases.jdbc_databases import H2Database
from tests.support.databases.kinds import kinds_of_databases
from tests.support.databases.mariadb import MariaServer
from tests.support.databases.postgres import PostgresServer
from tests.support.databases.servers import Database, DuckDbDatabase, SqliteDatabase
from tests.support.kafka import create_topic, forget_clients
from tests.support.scheduling import Together, sort
from tests.support.worker_topics import WorkerTopics

# Before any test imports PySpark: jobs have that of `pyspark.zip`, and so must the sessions of this process.
use_whole_pyspark()

# Sessions and jobs of tests are small: Java's optimising compiler would cost more than it brings. Without it, Java has
# room for 48 MB of compiled code, which the plans of all tests fill: a sixth of its CPU s then went into making room.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m")

# A command line is made once, and not again for each command that a test types: that takes longer than most of them.
typer.testing._get_command = functools.cache(typer.testing._get_command)  # type: ignore[attr-defined]

# How long an example takes says nothing on a busy machine. In CI examples are the same in each run, by Hypothesis' own
# choice: the more of them tell nothing new there. Elsewhere they are new ones, a hundred of each.
settings.register_profile("kconnect", settings(), deadline=None, max_examples=30 if "CI" in os.environ else 100)
settings.load_profile("kconnect")


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """A broker of its own for this test run; tests that stop or freeze one start another."""
    # Kafka looks every 10 s for transactions that were open for too long: tests of that should not wait so long.
    # On a machine that stood still for seconds it must not be fenced: its topics would have no leaders for a while.
    settings = {
        "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
        "broker.session.timeout.ms": "60000",
    }
    embedded = EmbeddedBroker(tmp_path_factory.mktemp("broker"), settings=settings)
    embedded.start()
    yield embedded
    forget_clients()
    embedded.stop()


@pytest.fixture(scope="session")
def bootstrap(broker: EmbeddedBroker) -> str:
    """`host:port` of the broker."""
    return broker.bootstrap


@pytest.fixture(scope="session")
def registry_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`schema.registry.url` of a schema registry of its own for this test run."""
    registry = LocalRegistry(tmp_path_factory.mktemp("registry"))
    yield str(registry.start(timeout_s=120).url)
    registry.stop()


@pytest.fixture
def topic(bootstrap: str) -> Callable[..., str]:
    """Creates an empty topic: `topic()`, `topic(partitions=3)`, `topic(config={"cleanup.policy": "compact"})`."""

    def create(partitions: int = 1, prefix: str = "topic", config: dict[str, str] | None = None) -> str:
        return create_topic(bootstrap, unique(prefix), partitions, config)

    return create


@pytest.fixture(scope="session")
def _worker_topics(bootstrap: str) -> WorkerTopics:
    return WorkerTopics(bootstrap)


@pytest.fixture(scope="module")
def worker_topics(_worker_topics: WorkerTopics) -> Iterator[str]:
    """Makes sure of the topics of a Connect worker, and returns the name of the offset topic."""
    yield "connect-offsets"
    _worker_topics.empty()


@pytest.fixture
def worker_props(bootstrap: str, worker_topics: str) -> dict[str, str]:
    """Worker properties for the broker: the same topics for all tests, a group of its own for each."""
    return {**worker_config(bootstrap), "group.id": unique("kconnect")}


@pytest.fixture
def worker_file(worker_props: dict[str, str], tmp_path: Path) -> Path:
    """`worker_props` as a file for `kconnect run --worker`."""
    path = tmp_path / "worker.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in worker_props.items()))
    return path


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server of its own for this test run."""
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaServer]:
    """A MariaDB server of its own for this test run; tests use it by way of `each_database`."""
    server = MariaServer()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def mariadb_with_binary_log() -> Iterator[MariaServer]:
    """Another one, whose changes can be captured."""
    server = MariaServer(binary_log=True)
    yield server
    server.remove()


def pytest_configure(config: pytest.Config) -> None:
    """At the end, say what each file has cost."""
    config.pluginmanager.register(CpuSeconds())


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Looks for no garbage among the modules and thousands of tests that are there to stay, and afterwards more rarely
    than is usual: 5 of 18 CPU seconds, and a fifth of those of unit tests.
    """
    gc.disable()
    yield
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


def pytest_unconfigure() -> None:
    """Else libraries take what is frozen for leaks of theirs, and say so at the end."""
    gc.unfreeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Several processes share the tests."""
    return Together(config, log)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Runs tests that ask for `each_database` once per kind of database, see `kinds_of_databases`."""
    if "each_database" in metafunc.fixturenames:
        metafunc.parametrize("each_database", kinds_of_databases(metafunc.definition), indirect=True)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out tests of MariaDB alone on machines that cannot have it; the longest tests begin."""
    sort(items)
    names = {"mariadb", "mariadb_with_binary_log"}
    of_mariadb = [item for item in items if names.intersection(getattr(item, "fixturenames", ()))]
    if of_mariadb and not mariadb_support.available():
        items[:] = [item for item in items if item not in of_mariadb]
        config.hook.pytest_deselected(items=of_mariadb)


@pytest.fixture
def each_database(request: pytest.FixtureRequest, tmp_path: Path) -> Database:
    """An empty database that no other test uses."""
    kinds: dict[str, Callable[[Path], Database]] = {
        "sqlite": SqliteDatabase.create,
        "duckdb": DuckDbDatabase.create,
        "h2": H2Database.create,
    }
    if request.param in kinds:
        return kinds[request.param](tmp_path)
    server: PostgresServer | MariaServer = request.getfixturevalue(request.param)
    return server.create_database()
