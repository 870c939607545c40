"""How a job is started: configuration, command, output, end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.machine.java import Java
from airflow_kconnect.machine.spark_home import install_folder
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.submit import submit as module
from airflow_kconnect.submit.spark import SparkSubmit, job_path
from airflow_kconnect.submit.submit import spark_conf, submit, submit_command, submit_environment

JAVA_OPTIONS = "spark.driver.extraJavaOptions"


@pytest.fixture
def spark(tmp_path: Path) -> SparkSubmit:
    """A PySpark folder without a class-data archive."""
    (tmp_path / "jars").mkdir()
    java = tmp_path / "java"
    java.touch()
    return SparkSubmit(tmp_path / "bin" / "spark-submit", Java(java, 17), tmp_path)


class TestSparkConf:
    def test_the_users_setting_wins(self) -> None:
        conf = spark_conf({"spark.sql.session.timeZone": "Europe/Vienna", "spark.x": 1}, master="local[*]")

        assert conf["spark.sql.session.timeZone"] == "Europe/Vienna"
        assert conf["spark.x"] == "1"
        assert conf["spark.ui.enabled"] == "false"

    @pytest.mark.parametrize("value", ["true", "TRUE", True])
    def test_speculation_is_refused(self, value: Any) -> None:
        with pytest.raises(ConfigError, match=r"`spark.speculation`: must not be true"):
            spark_conf({"spark.speculation": value}, master="local[*]")

    @pytest.mark.parametrize(("own", "collectors"), [("-Xss4m", 1), ("-Xss4m -XX:+UseG1GC", 0)])
    def test_a_users_garbage_collector_is_the_only_one(
        self, spark: SparkSubmit, monkeypatch: pytest.MonkeyPatch, own: str, collectors: int
    ) -> None:
        monkeypatch.setattr(os, "cpu_count", lambda: 2)
        options = spark_conf({JAVA_OPTIONS: own}, master="local[2]", spark=spark)[JAVA_OPTIONS]
        assert options.count("-XX:+UseSerialGC") == collectors

    def test_a_local_driver_stays_on_the_loopback_address(self) -> None:
        assert spark_conf({}, master="local[2]")["spark.driver.host"] == "127.0.0.1"
        assert "spark.driver.host" not in spark_conf({}, master="spark://host:7077")

    def test_the_driver_runs_on_this_python(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
            monkeypatch.delenv(name, raising=False)

        assert spark_conf({}, master="local[2]")["spark.pyspark.python"] == sys.executable
        assert spark_conf({}, master="yarn")["spark.pyspark.driver.python"] == sys.executable
        assert "spark.pyspark.driver.python" not in spark_conf({}, master="yarn", deploy_mode="cluster")

    def test_a_python_that_the_environment_names_is_left_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYSPARK_PYTHON", "/usr/bin/python3")

        assert "spark.pyspark.python" not in spark_conf({}, master="local[2]")

    def test_java_options_of_the_user_come_last(self, spark: SparkSubmit) -> None:
        conf = spark_conf({JAVA_OPTIONS: "-Duser=1"}, master="local[2]", spark=spark)

        assert conf[JAVA_OPTIONS].startswith("-XX:")
        assert conf[JAVA_OPTIONS].endswith(" -Duser=1")

    def test_java_options_with_a_blank_are_one_option(
        self, spark: SparkSubmit, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(module, "class_archive_options", lambda spark: ["-XX:SharedArchiveFile=/my cache/a"])

        conf = spark_conf({}, master="local[2]", spark=spark)

        assert conf[JAVA_OPTIONS].startswith('"-XX:SharedArchiveFile=/my cache/a" -XX:')

    @pytest.mark.parametrize("process", ["yarn.appMasterEnv", "kubernetes.driverEnv", "executorEnv"])
    def test_no_process_on_a_cluster_imports_from_its_working_folder(self, process: str) -> None:
        conf = spark_conf({}, master="yarn", deploy_mode="cluster")

        assert conf[f"spark.{process}.PYTHONSAFEPATH"] == "1"

    def test_java_options_are_left_alone_on_a_cluster(self, spark: SparkSubmit) -> None:
        assert JAVA_OPTIONS not in spark_conf({}, master="yarn", spark=spark)

    def test_logging_settings_of_the_user_are_left_alone(
        self, spark: SparkSubmit, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert "log4j2" in spark_conf({}, master="local", spark=spark)[JAVA_OPTIONS]
        monkeypatch.setenv("SPARK_CONF_DIR", "/etc/spark")

        assert "log4j2" not in spark_conf({}, master="local", spark=spark)[JAVA_OPTIONS]

    def test_sockets_are_in_the_folder_of_the_run(self, tmp_path: Path) -> None:
        folder = Path("/tmp/kconnect-12345678")

        conf = spark_conf({}, master="local[2]", folder=folder)

        assert conf["spark.python.unix.domain.socket.enabled"] == "true"
        assert conf["spark.python.unix.domain.socket.dir"] == str(folder)

    @pytest.mark.parametrize(
        ("master", "folder"),
        [("local[2]", None), ("local[2]", Path("/tmp", "long" * 20)), ("yarn", Path("/tmp/kconnect-12345678"))],
        ids=["no folder", "no room for names", "another machine"],
    )
    def test_there_are_no_sockets_that_others_could_reach(self, master: str, folder: Path | None) -> None:
        assert "spark.python.unix.domain.socket.enabled" not in spark_conf({}, master=master, folder=folder)


class TestSubmitCommand:
    def test_ends_with_the_job_and_the_run_file(self, spark: SparkSubmit) -> None:
        command = submit_command(spark, Path("/tmp/run.json"), master="local[2]", conf={"a.b": "c"}, name="n")

        assert command[0] == str(spark.program)
        assert command[-3:] == [str(job_path()), "--run", "/tmp/run.json"]
        assert command[command.index("--master") + 1] == "local[2]"
        assert "a.b=c" in command
        assert "--py-files" not in command

    def test_takes_the_package_along(self, spark: SparkSubmit) -> None:
        package = Path("/tmp/airflow_kconnect.zip")

        command = submit_command(
            spark, Path("/tmp/run.json"), master="spark://m:7077", conf={}, name="n", package=package
        )

        assert command[command.index("--py-files") + 1] == str(package)
        assert "spark.executorEnv.PYTHONPATH=airflow_kconnect.zip" in command

    def test_the_environment_has_no_settings_of_airflow(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("AIRFLOW__CORE__FERNET_KEY", "AIRFLOW_CONN_DB", "AIRFLOW_VAR_X", "_AIRFLOW_WWW_PASSWORD"):
            monkeypatch.setenv(name, "canary")
        monkeypatch.setenv("AIRFLOW_HOME", "/opt/airflow")

        environment = submit_environment("local[2]")

        assert "canary" not in environment.values()
        assert environment["AIRFLOW_HOME"] == "/opt/airflow"

    def test_the_environment_of_the_user_wins(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("SPARK_LAUNCHER_OPTS", "-Xmx1g")

        assert submit_environment("local[2]")["SPARK_LAUNCHER_OPTS"] == "-Xmx1g"

    def test_an_installed_spark_brings_its_packages(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path))
        monkeypatch.setenv("PYTHONPATH", "/mine")
        (install_folder() / "pyspark" / "jars").mkdir(parents=True)
        monkeypatch.setenv("SPARK_HOME", str(install_folder() / "pyspark"))

        assert submit_environment("local[2]")["PYTHONPATH"] == f"/mine{os.pathsep}{install_folder()}"


def _python(script: str) -> list[str]:
    return [sys.executable, "-u", "-c", script]


class TestSubmit:
    def test_tells_events_from_lines_and_returns_the_exit_code(self) -> None:
        events: list[dict[str, Any]] = []
        lines: list[str] = []
        script = f"print('before'); print({event_line('phase', token='t', name='planning')!r}); import sys; sys.exit(3)"

        code = submit(_python(script), token="t", environment=os.environ, on_event=events.append, on_line=lines.append)

        assert code == 3
        assert events == [{"event": "phase", "name": "planning"}]
        assert lines == ["before"]

    def test_output_that_is_not_utf8_is_shown_as_far_as_possible(self) -> None:
        lines: list[str] = []

        submit(
            _python("import os; os.write(1, b'caf\\xe9\\n')"),
            token="t",
            environment=os.environ,
            on_event=lambda event: None,
            on_line=lines.append,
        )

        assert lines == ["caf\ufffd"]

    def test_an_error_here_ends_the_job(self) -> None:
        pids: list[int] = []

        def fail(line: str) -> None:
            pids.append(int(line))
            raise ValueError("display")

        script = "import os, time; print(os.getpid()); time.sleep(300)"
        with pytest.raises(ValueError, match="display"):
            submit(_python(script), token="t", environment=os.environ, on_event=lambda event: None, on_line=fail)

        assert not psutil.pid_exists(pids[0])

    @pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
    def test_a_signal_ends_the_job_too(self, tmp_path: Path, number: signal.Signals, code: int) -> None:
        job = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(300)"
        script = f"""
import os, sys
from airflow_kconnect.submit.submit import submit
try:
    submit([sys.executable, "-u", "-c", {job!r}], token='t', environment=os.environ, on_event=print, on_line=print)
except KeyboardInterrupt:
    sys.exit(130)
"""
        process = subprocess.Popen(_python(script), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        pid = _pid_in(tmp_path / "pid")

        process.send_signal(number)

        process.communicate(timeout=30)
        assert process.returncode == code
        assert not psutil.pid_exists(pid)


def _pid_in(file: Path) -> int:
    deadline = time.monotonic() + 30
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return int(file.read_text())
