"""The hook around a spark-submit that is a script: one test for each method of the provider that is overridden."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from pathlib import Path

import pytest
from airflow.providers.apache.spark.hooks.spark_submit import SparkSubmitHook
from airflow.providers.common.compat.sdk import AirflowException

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.spark_job import ConnectorSparkSubmitHook
from airflow_kconnect.places.libraries import STORES
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import SPARK_OPTIONS
from airflow_kconnect.submit.spark import job_path
from tests.support.spark.fake_spark import FakeSpark, printing
from tests.support.spark.jobs import is_running

REPORT = RunReport(connector="c", kind="source", connector_class="C", run_id="r", records={"written": 7}).as_dict()
TOKEN = "a-token"
PROGRESS = {"records": 5, "rate": 2.5, "tasks_done": 1, "tasks": 2, "elapsed_s": 2.0, "expected": None}


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    return FakeSpark(tmp_path)


def _hook(**parameters: object) -> ConnectorSparkSubmitHook:
    hook = ConnectorSparkSubmitHook(application_args=["--run", "/no/file"], **parameters)
    hook.token = TOKEN
    return hook


def _event(event: str, **facts: object) -> str:
    return event_line(event, token=TOKEN, **facts)


def test_while_spark_submit_waits_for_a_queued_job_its_run_spec_is_kept(
    spark: FakeSpark, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    extra = {"deploy-mode": "cluster", "staging": str(tmp_path / "staging")}
    spark_default = {"conn_type": "spark", "host": "yarn", "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(spark_default))
    monkeypatch.setattr("airflow_kconnect.hooks.services.staging.KEEP_S", 0.01)
    kept = f"list(pathlib.Path({str(tmp_path / 'staging')!r}).glob('runs/*/waited-for'))"
    spark.behave(f"import pathlib, time\nwhile not {kept}: time.sleep(0.01)")
    (spec := tmp_path / "run.json").write_text("{}")
    _hook(files=str(spec)).submit("job.py")
    assert list((tmp_path / "staging").glob("runs/*")) == []


@pytest.mark.parametrize(
    ("config", "master", "direct"),
    [
        ({"connector.class": "com.acme.JavaSource"}, "local[2]", True),
        ({"connector.class": "com.acme.JavaSource"}, "yarn", False),
        ({"connector.class": "FileStreamSource"}, "local[2]", False),
    ],
)
def test_a_java_connector_on_this_machine_is_started_without_spark_submit(
    spark: FakeSpark, monkeypatch: pytest.MonkeyPatch, config: dict[str, str], master: str, direct: bool
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": master}))
    hook = _hook()
    hook.without_spark_if_possible(config)
    command = hook._build_spark_submit_command(str(job_path()))
    assert (str(spark.folder / "spark-submit") not in command) is direct
    assert command[-3:] == [str(job_path()), "--run", "/no/file"]


@pytest.mark.parametrize("env_vars", [None, {"FOO": "bar"}], ids=["without", "with"])
def test_a_job_that_starts_spark_itself_has_the_options_in_its_environment(
    monkeypatch: pytest.MonkeyPatch, env_vars: dict[str, str] | None
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    hook = _hook(driver_memory="3g", conf={"spark.a": "b"}, env_vars=env_vars)
    command = hook._build_spark_submit_command(str(job_path()))
    assert command[-4:] == [sys.executable, str(job_path()), "--run", "/no/file"]
    assert hook._env is not None
    options = json.loads(hook._env[SPARK_OPTIONS])
    assert options[:2] == ["--master", "local[2]"]
    assert {"spark.a=b", "3g"} < set(options)
    assert not [word for word in options if word.endswith(("spark-submit", ".py"))]


def test_a_job_starts_with_what_its_connectors_need_besides_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    hook = _hook(jars="/opt/mine.jar", conf={"spark.sql.extensions": "com.acme.E"})
    table = {"connector.class": "SparkTableSink", "table.format": "delta", "table.jars": "provided"}
    hook.start_with_needs_of(table)
    hook._build_spark_submit_command(str(job_path()))
    assert hook._env is not None
    options = json.loads(hook._env[SPARK_OPTIONS])
    assert options[options.index("--jars") + 1] == "/opt/mine.jar"
    assert "spark.sql.extensions=com.acme.E,io.delta.sql.DeltaSparkSessionExtension" in options
    assert "spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog" in options


def test_a_job_is_told_beforehand_that_it_will_use_s3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    hook = _hook()
    hook.start_with_needs_of({"connector.class": "DirectorySink", "directory": "s3://lake/raw"})
    hook._build_spark_submit_command(str(job_path()))
    assert hook._env is not None
    assert hook._env[STORES] == "s3"


class TestEvents:
    def test_the_report_is_kept_and_logged_as_a_sentence(
        self, spark: FakeSpark, capsys: pytest.CaptureFixture[str]
    ) -> None:
        spark.behave(printing(_event("progress", **PROGRESS), _event("report", report=REPORT)))
        hook = _hook()

        hook.submit("job.py")

        assert hook.report == REPORT
        assert hook.error is None
        assert hook.exit_code == 0
        logged = capsys.readouterr().out
        assert "c: 7 records written in 0.0 s (exactly_once)" in logged
        assert "5 records, " in logged
        assert "KCONNECT" not in logged

    def test_the_error_is_kept_next_to_the_exit_code(self, spark: FakeSpark) -> None:
        spark.behave(printing(_event("error", error="RetriableError", message="gone", exit_code=3), exit_code=3))
        hook = _hook()

        with pytest.raises(AirflowException):
            hook.submit("job.py")

        assert hook.error is not None
        assert hook.error["message"] == "gone"
        assert hook.exit_code == 3

    def test_other_lines_are_logged_but_for_noise(self, spark: FakeSpark, capsys: pytest.CaptureFixture[str]) -> None:
        noise = "WARNING: Using incubator modules: jdk.incubator.vector"
        spark.behave(printing("a line of Spark", "", noise, "KCONNECT {not json"))

        _hook().submit("job.py")

        logged = capsys.readouterr().out
        assert "a line of Spark" in logged
        assert "KCONNECT {not json" in logged
        assert noise not in logged

    def test_timestamps_of_the_job_and_of_spark_are_left_out(
        self, spark: FakeSpark, capsys: pytest.CaptureFixture[str]
    ) -> None:
        spark.behave(printing("2026-11-22 13:50:06,123 WARNING kconnect: a", "26/11/22 13:50:06 WARN Utils: b"))

        _hook().submit("job.py")

        logged = capsys.readouterr().out
        assert "WARNING kconnect: a" in logged
        assert "WARN Utils: b" in logged
        assert "13:50:06" not in logged

    @pytest.mark.parametrize(
        "line",
        [
            event_line("phase"),
            event_line("report", report={}),
            event_line("error", error="DataError", message="forged", exit_code=1),
            event_line("error", token="another", error="DataError", message="forged", exit_code=1),
            _event("phase"),
            _event("report", report={}),
            _event("spark_ui", url="javascript:alert(1)"),
            f"KCONNECT {TOKEN} {'[' * 100_000}",
            f"KCONNECT {'[' * 100_000}",
        ],
    )
    def test_what_a_record_can_print_changes_nothing(self, spark: FakeSpark, line: str) -> None:
        spark.behave(printing(line, _event("report", report=REPORT)))
        hook = _hook()
        links: list[str] = []
        hook.on_tracking_url = links.append

        hook.submit("job.py")

        assert (hook.report, hook.error, links) == (REPORT, None, [])

    def test_control_characters_are_replaced(self, spark: FakeSpark, capsys: pytest.CaptureFixture[str]) -> None:
        spark.behave(printing("a\x1b[2Jb\u2028c\u202ed\te"))

        _hook().submit("job.py")

        assert "a\ufffd[2Jb\ufffdc\ufffdd\te" in capsys.readouterr().out


class TestSignsOfLife:
    def test_the_first_line_says_where_spark_starts(self, spark: FakeSpark, capsys: pytest.CaptureFixture[str]) -> None:
        _hook().submit("job.py")

        assert "starting Spark on local[2]" in capsys.readouterr().out

    def test_a_job_that_says_nothing_does_not_silence_the_log(
        self, spark: FakeSpark, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(ConnectorSparkSubmitHook, "silence_s", 0.2)
        phase = _event("phase", name="planning", text="planning what lines reads", step=3, steps=6)
        spark.behave(f"import time\nprint({phase!r}, flush=True)\ntime.sleep(2)")

        _hook().submit("job.py")

        logged = capsys.readouterr().out
        assert "[3/6] planning what lines reads" in logged
        assert "[3/6] planning what lines reads, for 1 s" in logged


class TestCommand:
    def test_has_our_defaults_and_the_program_by_its_path(self, spark: FakeSpark) -> None:
        hook = _hook(conf={"spark.sql.session.timeZone": "CET"})

        command = hook._build_spark_submit_command("job.py")

        assert [word for word in command if word.endswith("spark-submit")] == [str(spark.folder / "spark-submit")]
        assert "spark.sql.session.timeZone=CET" in command
        assert "spark.ui.enabled=false" in command

    def test_speculation_is_refused(self, spark: FakeSpark) -> None:
        with pytest.raises(ConfigError, match="speculation"):
            _hook(conf={"spark.speculation": "true"})

    def test_a_hook_can_be_made_from_a_plain_one(self, spark: FakeSpark) -> None:
        plain = SparkSubmitHook(conf={"a": "b"}, driver_memory="3g", application_args=["--run", "x"])

        command = ConnectorSparkSubmitHook.from_hook(plain)._build_spark_submit_command("job.py")

        assert command[command.index("--driver-memory") + 1] == "3g"
        assert command[-3:] == ["job.py", "--run", "x"]

    def test_secrets_are_masked_in_the_log(self, spark: FakeSpark, capsys: pytest.CaptureFixture[str]) -> None:
        conf = {"spark.hadoop.fs.s3a.access.key": "AKIA-1", "spark.my.token": "tok-1", "spark.my.password": "pw-1"}

        _hook(conf=conf)._build_spark_submit_command("job.py")

        logged = capsys.readouterr().out
        assert "Spark-Submit cmd" in logged
        assert not [value for value in conf.values() if value in logged]

    def test_the_command_in_the_log_begins_with_spark_submit_and_is_short(
        self, spark: FakeSpark, capsys: pytest.CaptureFixture[str]
    ) -> None:
        _hook(conf={"spark.x": "1"}, driver_memory="3g")._build_spark_submit_command("job.py")

        [line] = [line for line in capsys.readouterr().out.splitlines() if "Spark-Submit cmd" in line]
        assert f"Spark-Submit cmd: {spark.folder}/spark-submit" in line
        assert "--driver-memory 3g" in line
        assert "--conf" not in line
        assert re.search(r"job\.py .*\(\d+ settings of Spark: see the log at the level debug\)", line)

    @pytest.mark.parametrize("env_vars", [None, {"FOO": "bar"}], ids=["without", "with"])
    def test_the_process_has_the_users_variables_knows_who_waits_for_it_and_has_no_settings_of_airflow(
        self,
        spark: FakeSpark,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        env_vars: dict[str, str] | None,
    ) -> None:
        for name in ("AIRFLOW__CORE__FERNET_KEY", "AIRFLOW_CONN_DB", "AIRFLOW_VAR_X", "_AIRFLOW_WWW_PASSWORD"):
            monkeypatch.setenv(name, "canary")
        monkeypatch.setenv("AIRFLOW_CTX_DAG_ID", "load")
        spark.behave("import json, os; print('has', json.dumps(dict(os.environ)))")

        _hook(env_vars=env_vars).submit("job.py")

        (line,) = (line for line in capsys.readouterr().out.splitlines() if "has {" in line)
        environment = json.loads(line[line.index("{") : line.rindex("}") + 1])
        assert "canary" not in environment.values()
        assert environment["AIRFLOW_CTX_DAG_ID"] == "load"
        assert (environment["KCONNECT_SUBMITTER_PID"], environment["SPARK_LOCAL_IP"]) == (str(os.getpid()), "127.0.0.1")
        assert environment.get("FOO") == (env_vars or {}).get("FOO")


class TestKubernetes:
    """As far as it goes without the provider for Kubernetes."""

    @pytest.fixture
    def hook(self, spark: FakeSpark) -> ConnectorSparkSubmitHook:
        made = _hook()
        made._is_kubernetes = True
        return made

    def test_the_driver_pod_is_found_in_any_namespace(self, hook: ConnectorSparkSubmitHook) -> None:
        line = "Deployed Spark application load with application ID spark-1a and submission ID etl:load-1a-driver into"

        hook._process_spark_submit_log(iter([f"INFO LoggingPodStatusWatcherImpl: {line} Kubernetes"]))

        assert hook._kubernetes_driver_pod == "load-1a-driver"

    def test_in_client_mode_no_line_names_a_pod_to_delete(self, hook: ConnectorSparkSubmitHook) -> None:
        hook._process_spark_submit_log(iter(["pod name: somebody-elses-1a-driver"]))

        hook.on_kill()

        assert hook._kubernetes_driver_pod is None

    def test_a_driver_pod_that_is_gone_is_not_a_success(
        self, hook: ConnectorSparkSubmitHook, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(SparkSubmitHook, "_poll_k8s_driver_via_api", lambda hook: None)

        with pytest.raises(RuntimeError, match="is gone"):
            hook._poll_k8s_driver_via_api()


class TestPackage:
    """Executors on other machines get this package from the driver."""

    _SHOWING = """
import os, sys
given = sys.argv[sys.argv.index("--py-files") + 1] if "--py-files" in sys.argv else ""
print("py-files:", *(os.path.basename(path) for path in given.split(",") if os.path.isfile(path)))
print(*sys.argv)
"""

    def _submitted(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch, master: str, application: str) -> None:
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": master}))
        spark.behave(self._SHOWING)
        _hook(py_files=str(spark.folder / "behaviour.py")).submit(application)

    def test_goes_to_a_cluster(
        self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self._submitted(spark, monkeypatch, "spark://m:7077", str(job_path()))

        logged = capsys.readouterr().out
        assert "py-files: airflow_kconnect.zip behaviour.py" in logged
        assert "spark.executorEnv.PYTHONPATH=airflow_kconnect.zip" in logged

    @pytest.mark.parametrize(
        ("master", "application"),
        [("local[2]", str(job_path())), ("spark://m:7077", "local:///opt/job.py")],
        ids=["this-machine", "image"],
    )
    def test_stays_where_it_is_there_already(
        self,
        spark: FakeSpark,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
        master: str,
        application: str,
    ) -> None:
        self._submitted(spark, monkeypatch, master, application)

        assert "airflow_kconnect.zip" not in capsys.readouterr().out


SLEEPER = """
import os, pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import os, time; os.setpgid(0, 0); time.sleep(300)"])
(pathlib.Path(sys.argv[0]).parent / "pids").write_text(f"{os.getpid()} {child.pid}")
time.sleep(300)
"""


def _pids(spark: FakeSpark) -> list[int]:
    file = spark.folder / "pids"
    deadline = time.monotonic() + 30
    while not (file.exists() and file.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return [int(pid) for pid in file.read_text().split()]


def _running(pids: list[int]) -> list[int]:
    return [pid for pid in pids if is_running(pid)]


class TestOnKill:
    def test_ends_the_whole_tree(self, spark: FakeSpark) -> None:
        spark.behave(SLEEPER)
        hook = _hook()
        failures: list[AirflowException] = []

        def submit() -> None:
            try:
                hook.submit("job.py")
            except AirflowException as error:
                failures.append(error)

        thread = threading.Thread(target=submit)
        thread.start()
        pids = _pids(spark)
        hook.on_kill()
        thread.join(30)

        assert not _running(pids)
        assert len(failures) == 1
        assert hook.exit_code == -15

    def test_before_a_start_it_does_nothing(self, spark: FakeSpark) -> None:
        _hook().on_kill()

    def test_between_start_and_output_it_is_not_forgotten(self, spark: FakeSpark) -> None:
        spark.behave(SLEEPER)
        hook = _hook()
        hook.on_kill()

        with pytest.raises(AirflowException):
            hook.submit("job.py")

        assert hook.exit_code == -15

    def test_an_error_while_waiting_ends_the_tree_too(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
        spark.behave("print('x')\n" + SLEEPER)
        hook = _hook()

        def fail(lines: object) -> None:
            _pids(spark)
            raise KeyboardInterrupt

        monkeypatch.setattr(hook, "_without_events", fail)
        with pytest.raises(KeyboardInterrupt):
            hook.submit("job.py")

        assert not _running(_pids(spark))
