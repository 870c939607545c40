"""What Spark is started with for connectors: jars, extensions, settings, and which of them are there already."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.machine.java import Java
from airflow_kconnect.submit.spark import SparkSubmit
from airflow_kconnect.submit.spark_needs import contradiction, needs_of, with_needs

LAKE = {"connector.class": "SparkTableSink", "table.format": "iceberg", "name": "lake", "topics": "t"}
DELTA = {**LAKE, "table.format": "delta"}
FILE = {"connector.class": "FileStreamSink", "name": "file", "topics": "t", "file": "/tmp/x"}
EXTENSION = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkSubmit:
    """A Spark 4.1.4 without table formats, and a cache that has their jars."""
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
    home = tmp_path / "spark"
    (home / "jars").mkdir(parents=True)
    (home / "jars" / "spark-core_2.13-4.1.4.jar").touch()
    for config in (LAKE, DELTA):
        _cached(tmp_path / "cache", needs_of(config, "4.1.4").coordinates)
    return SparkSubmit(home / "bin" / "spark-submit", Java(tmp_path / "java", 17), home, home)


def _cached(cache: Path, coordinates: tuple[str, ...]) -> None:
    """As `resolve` leaves it."""
    _, artifact, *_, version = coordinates[0].split(":")
    digest = hashlib.sha256("\n".join(coordinates).encode()).hexdigest()[:8]
    folder = cache / "jars" / f"{artifact}-{version}-{digest}"
    folder.mkdir(parents=True)
    (folder / f"{artifact}-{version}.jar").touch()
    (folder / ".complete").touch()


def _jars(conf: dict[str, str]) -> list[str]:
    return [Path(jar).name for jar in conf.get("spark.jars", "").split(",") if jar]


class TestNeeds:
    def test_a_connector_that_needs_nothing_changes_nothing(self, spark: SparkSubmit) -> None:
        assert with_needs({"spark.driver.memory": "2g"}, [FILE], spark) == {"spark.driver.memory": "2g"}

    def test_a_table_format_is_jars_and_an_extension(self, spark: SparkSubmit) -> None:
        conf = with_needs({}, [LAKE], spark)
        assert _jars(conf) == ["iceberg-spark-runtime-4.1_2.13-1.12.0.jar"]
        assert conf["spark.sql.extensions"] == EXTENSION

    def test_those_of_a_group_are_joined(self, spark: SparkSubmit) -> None:
        conf = with_needs({}, [LAKE, FILE, DELTA, LAKE], spark)
        assert len(_jars(conf)) == 2
        assert conf["spark.sql.extensions"] == f"{EXTENSION},io.delta.sql.DeltaSparkSessionExtension"

    def test_a_java_class_needs_nothing_of_spark(self, spark: SparkSubmit) -> None:
        assert with_needs({}, [{"connector.class": "com.acme.JavaSink", "name": "a"}], spark) == {}

    def test_a_version_without_the_format_is_an_error(self) -> None:
        with pytest.raises(ConfigError, match=r"pip install 'airflow-kconnect\[iceberg\]'"):
            needs_of(LAKE, "4.3.0")


class TestWhatIsThere:
    def test_settings_of_the_user_win(self, spark: SparkSubmit) -> None:
        key = "spark.sql.catalog.spark_catalog"
        assert with_needs({key: "com.acme.Catalog"}, [DELTA], spark)[key] == "com.acme.Catalog"

    def test_jars_and_extensions_of_the_user_stay(self, spark: SparkSubmit) -> None:
        conf = with_needs({"spark.jars": "/a.jar", "spark.sql.extensions": "com.acme.E"}, [LAKE], spark)
        assert _jars(conf) == ["a.jar", "iceberg-spark-runtime-4.1_2.13-1.12.0.jar"]
        assert conf["spark.sql.extensions"] == f"com.acme.E,{EXTENSION}"

    @pytest.mark.parametrize(
        "given",
        [
            {"spark.jars": "local:///opt/iceberg-spark-runtime-4.1_2.13-1.11.0.jar"},
            {"spark.jars.packages": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0,a:b:1"},
            {"spark.driver.extraClassPath": "/x/y.jar:/opt/iceberg-spark-runtime-4.1_2.13-1.11.0.jar"},
        ],
    )
    def test_a_format_that_the_user_names_is_not_fetched(self, spark: SparkSubmit, given: dict[str, str]) -> None:
        assert _jars(with_needs(given, [LAKE], spark)) == _jars(given)

    def test_a_format_among_the_jars_of_spark_is_not_fetched(self, spark: SparkSubmit) -> None:
        assert spark.home is not None
        (spark.home / "jars" / "iceberg-spark-runtime-4.1_2.13-1.12.0.jar").touch()
        assert _jars(with_needs({}, [LAKE], spark)) == []

    def test_defaults_of_spark_count_too_and_are_kept(self, spark: SparkSubmit) -> None:
        assert spark.home is not None
        (spark.home / "conf").mkdir()
        text = "spark.jars.packages  io.delta:delta-spark_4.1_2.13:4.4.0\nspark.sql.extensions=com.acme.E\n"
        (spark.home / "conf" / "spark-defaults.conf").write_text(text)
        conf = with_needs({}, [DELTA], spark)
        assert _jars(conf) == []
        assert conf["spark.sql.extensions"] == "com.acme.E,io.delta.sql.DeltaSparkSessionExtension"


class TestContradictions:
    def test_two_versions_of_a_jar_are_one(self) -> None:
        problem = contradiction(SparkNeeds(("g:a:1",)), {"other": SparkNeeds(("g:b:2", "g:a:3"))})
        assert problem is not None
        assert problem.startswith("needs g:a 1, and connector other 3: a group is one Spark application")

    def test_the_same_version_is_none(self) -> None:
        assert contradiction(SparkNeeds(("g:a:1",)), {"other": SparkNeeds(("g:a:1",))}) is None
