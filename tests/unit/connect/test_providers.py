"""Config providers: Connect's variables, where values come from, and that none of them gets into an error text."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.connector_config import validate_connector
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.provider_classes import MAX_BYTES, NEEDS_AIRFLOW
from airflow_kconnect.connect.providers import ConfigResolver, task_variables
from airflow_kconnect.connect.run import RunSpec
from airflow_kconnect.connect.unresolved import inspect_without_references
from airflow_kconnect.connect.variables import has_reference, variables_in
from airflow_kconnect.connect.worker_config import WorkerConfig
from airflow_kconnect.runtime.job import run

CANARY = "S3cr3t-canary"
CONNECT = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")
PACKAGE = "org.apache.kafka.common.config.provider."
KAFKA = {"bootstrap.servers": "localhost:9092"}
SOURCE = {"name": "orders", "connector.class": "FileStreamSource", "file": "/data/orders.csv", "topic": "orders"}
SINK = {"name": "lake", "connector.class": "DirectorySinkConnector", "topics": "orders", "directory": "/data"}


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    directory = tmp_path / "secrets"
    directory.mkdir()
    (directory / "db.properties").write_text(f"password={CANARY}\nuser=etl\nnested=${{env:KC_USER}}\nnone=\n")
    (directory / "token").write_text(f"{CANARY}\n")
    return directory


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KC_USER", "etl")
    monkeypatch.setenv("KC_EMPTY", "")
    monkeypatch.delenv("KC_MISSING", raising=False)


def resolver(**worker: str) -> ConfigResolver:
    """A resolver of a worker; `_` in names stands for `.`."""
    return ConfigResolver.from_worker({f"config.providers{k.replace('_', '.')}": v for k, v in worker.items()})


def resolved(value: str) -> str:
    return str(resolver().resolve({"key": value})["key"])


def errors_of(resolver: ConfigResolver, **props: Any) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        resolver.resolve(props)
    assert CANARY not in str(caught.value)
    return caught.value.errors


class TestVariables:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            pytest.param("plain", "plain", id="no variable"),
            pytest.param("${env:KC_USER}", "etl", id="whole value"),
            pytest.param("a-${env:KC_USER}-b", "a-etl-b", id="text around it is kept"),
            pytest.param("${env:KC_USER}${env:KC_USER}@${env:KC_USER}", "etletl@etl", id="several"),
            pytest.param("${env::KC_USER}", "etl", id="empty path"),
            pytest.param("[${env:KC_EMPTY}]", "[]", id="empty value"),
            pytest.param("$${env:KC_USER}", "$etl", id="no escape"),
            pytest.param("${env:KC_USER", "${env:KC_USER", id="not closed"),
            pytest.param("${KC_USER}", "${KC_USER}", id="no provider"),
            pytest.param("${vault:a:b}", "${vault:a:b}", id="unknown provider"),
            pytest.param("${vault:a}${env:KC_USER}${x:b}", "${vault:a}etl${x:b}", id="unknown among known"),
            pytest.param("${a${env:KC_USER}", "${a${env:KC_USER}", id="nested: the provider is `a${env`"),
            pytest.param("${a}${env:KC_USER}", "${a}etl", id="after one without provider"),
            pytest.param("${:x}", "${:x}", id="empty provider"),
            pytest.param("$ {env:KC_USER} $env:KC_USER {env:KC_USER}", None, id="other notations"),
        ],
    )
    def test_value(self, text: str, expected: str | None) -> None:
        assert resolved(text) == (text if expected is None else expected)

    def test_values_that_come_in_are_not_resolved_again(self, secrets: Path) -> None:
        assert resolved(f"${{file:{secrets}/db.properties:nested}}") == "${env:KC_USER}"

    def test_keys_and_what_is_no_text_stay(self) -> None:
        props = {"${env:KC_USER}": "x", "null": None, "number": 3, "list": ["${env:KC_USER}"]}
        assert resolver().resolve(props) == props

    def test_the_given_mapping_is_not_changed(self) -> None:
        props = {"a": "${env:KC_USER}"}
        resolver().resolve(props)
        assert props == {"a": "${env:KC_USER}"}

    @given(st.text(alphabet="${}:ab\n", max_size=40))
    def test_variables_are_those_of_connect(self, text: str) -> None:
        expected = [(m.start(), m.end(), m[0], m[1], m[3] or "", m[4]) for m in CONNECT.finditer(text)]
        assert [tuple(variable) for variable in variables_in(text)] == expected
        assert has_reference(text) == bool(expected)

    @given(st.text(alphabet="${}:ab\n", max_size=40))
    def test_without_a_known_provider_a_text_stays_as_it_is(self, text: str) -> None:
        props = {"key": text}
        assert ConfigResolver.from_worker({"config.providers": ""}).resolve(props) == props

    @pytest.mark.parametrize("part", ["${", "${a:", "${env:KC_USER}", "${x:y:z:", "$", "}", "${}", ":"])
    def test_long_values_take_linear_time(self, part: str) -> None:
        started = time.monotonic()
        resolved(part * (900_000 // len(part)) if part != "${env:KC_USER}" else part * 10_000)
        assert time.monotonic() - started < 3

    @pytest.mark.parametrize(("value", "expected"), [("${a:b}", True), ("a", False), (None, False), (3, False)])
    def test_has_reference(self, value: object, expected: bool) -> None:
        assert has_reference(value) is expected


class TestFile:
    def test_value_of_a_key(self, secrets: Path) -> None:
        assert resolved(f"${{file:{secrets}/db.properties:password}}") == CANARY

    def test_empty_value(self, secrets: Path) -> None:
        assert resolved(f"${{file:{secrets}/db.properties:none}}") == ""

    def test_key_with_colons(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("a\\:b=1")
        assert resolved(f"${{file:{tmp_path}/f:a:b}}") == "1"

    def test_a_file_is_read_once(self, secrets: Path) -> None:
        providers = resolver()
        text = f"${{file:{secrets}/db.properties:user}}"
        assert providers.resolve({"a": text}) == {"a": "etl"}
        (secrets / "db.properties").unlink()
        assert providers.resolve({"a": text, "b": f"{text}{text.replace('user', 'none')}"}) == {"a": "etl", "b": "etl"}

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            pytest.param(b"", "names an empty file", id="empty"),
            pytest.param(b"k=\xff\xfe", "names a file that is not UTF-8 text", id="not UTF-8"),
            pytest.param(b"k=a\0b", "names a file that is not UTF-8 text", id="NUL"),
            pytest.param(b"#" * (MAX_BYTES + 1), "names a file of more than 1000000 bytes", id="large"),
            pytest.param(b"k=\\u12", "line 1: malformed \\uXXXX escape", id="malformed"),
            pytest.param(b"other=1", "names a key that the file does not have", id="key"),
        ],
    )
    def test_bad_file(self, tmp_path: Path, content: bytes, message: str) -> None:
        (tmp_path / "f").write_bytes(content)
        (error,) = errors_of(resolver(), key=f"x${{file:{tmp_path}/f:k}}")["key"]
        assert error.startswith(f"variable ${{file:{tmp_path}/f:k}} ")
        assert message in error

    @pytest.mark.parametrize(
        ("path", "message"),
        [
            ("", "has no path"),
            ("/nowhere/at/all", "cannot be read: No such file or directory"),
            ("/tmp", "names no regular file"),
            ("/dev/zero", "names no regular file"),
            ("/a\0b", "cannot be read: the path is not valid"),
            ("/\ud800", "cannot be read: the path is not valid"),
            ("/" + "a" * 300, "cannot be read: File name too long"),
        ],
    )
    def test_bad_path(self, path: str, message: str) -> None:
        (error,) = errors_of(resolver(), key=f"${{file:{path}:k}}")["key"]
        assert message in error
        assert error.isprintable()

    def test_a_loop_of_links(self, tmp_path: Path) -> None:
        (tmp_path / "loop").symlink_to(tmp_path / "loop")
        (error,) = errors_of(resolver(), key=f"${{file:{tmp_path}/loop:k}}")["key"]
        assert "cannot be read" in error

    def test_a_pipe_does_not_block(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        (error,) = errors_of(resolver(), key=f"${{file:{tmp_path}/pipe:k}}")["key"]
        assert "names no regular file" in error

    def test_a_long_variable_is_cut_in_the_error(self) -> None:
        (error,) = errors_of(resolver(), key=f"${{file:{'a/' * 10_000}:k}}")["key"]
        assert len(error) < 300


class TestDirectory:
    def test_content_with_its_line_end(self, secrets: Path) -> None:
        assert resolved(f"${{dir:{secrets}:token}}") == f"{CANARY}\n"

    def test_links_as_kubernetes_makes_them(self, tmp_path: Path) -> None:
        (tmp_path / "..2026").mkdir()
        (tmp_path / "..2026" / "token").write_text("x")
        (tmp_path / "..data").symlink_to("..2026")
        (tmp_path / "token").symlink_to("..data/token")
        providers = resolver(_dir_param_allowed_paths=str(tmp_path))
        assert providers.resolve({"a": f"${{dir:{tmp_path}:token}}"}) == {"a": "x"}

    @pytest.mark.parametrize("key", ["", ".", "..", "../secrets/token", "a/b", "/etc/hostname"])
    def test_only_files_of_the_directory_itself(self, secrets: Path, key: str) -> None:
        assert errors_of(resolver(), k=f"${{dir:{secrets}:{key}}}") == {
            "k": [f"variable ${{dir:{secrets}:{key}}} must name a file of the directory itself"]
        }

    def test_without_path(self) -> None:
        assert "has no path" in errors_of(resolver(), key="${dir:token}")["key"][0]


class TestEnvironment:
    @pytest.mark.parametrize(
        ("variable", "message"),
        [
            ("${env:KC_MISSING}", "names an environment variable that is not set for the job"),
            ("${env:}", "names an environment variable that is not set for the job"),
            ("${env:/x:KC_USER}", "has a path"),
        ],
    )
    def test_error(self, variable: str, message: str) -> None:
        (error,) = errors_of(resolver(), key=variable)["key"]
        assert error.startswith(f"variable {variable} {message}")

    @pytest.mark.parametrize(("pattern", "allowed"), [("KC_.*", True), ("KC", False), ("C_USER", False), ("", False)])
    def test_the_pattern_must_match_the_whole_name(self, pattern: str, allowed: bool) -> None:
        providers = resolver(_env_param_allowlist_pattern=pattern)
        if allowed:
            assert providers.resolve({"a": "${env:KC_USER}"}) == {"a": "etl"}
        else:
            assert "is not allowed by `allowlist.pattern`" in errors_of(providers, a="${env:KC_USER}")["a"][0]

    def test_not_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KC_BYTES", "\udcff")
        assert "is not UTF-8 text" in errors_of(resolver(), key="${env:KC_BYTES}")["key"][0]


class TestAllowedPaths:
    @pytest.mark.parametrize(
        ("path", "allowed"),
        [
            ("{secrets}/db.properties", True),
            ("{secrets}/../secrets/db.properties", True),
            ("{secrets}/inner", True),
            ("{root}/outside.properties", False),
            ("{secrets}/../outside.properties", False),
            ("{secrets}/out", False),
            ("{secrets}/up/outside.properties", False),
            ("{root}/secrets-too/db.properties", False),
            ("{root}/missing", False),
        ],
    )
    def test_path(self, tmp_path: Path, secrets: Path, path: str, allowed: bool) -> None:
        (tmp_path / "outside.properties").write_text("user=root")
        (tmp_path / "secrets-too").mkdir()
        (tmp_path / "secrets-too" / "db.properties").write_text("user=root")
        (secrets / "out").symlink_to(tmp_path / "outside.properties")
        (secrets / "up").symlink_to(tmp_path)
        (secrets / "inner").symlink_to(secrets / "db.properties")
        providers = resolver(_file_param_allowed_paths=f"/usr,{secrets}")
        props = {"a": f"${{file:{path.format(root=tmp_path, secrets=secrets)}:user}}"}
        if allowed:
            assert providers.resolve(props) == {"a": "etl"}
        else:
            assert "is outside of `allowed.paths`" in errors_of(providers, **props)["a"][0]

    def test_an_allowed_path_may_be_a_link(self, tmp_path: Path, secrets: Path) -> None:
        (tmp_path / "link").symlink_to(secrets)
        providers = resolver(_file_param_allowed_paths=str(tmp_path / "link"))
        assert providers.resolve({"a": f"${{file:{tmp_path}/link/db.properties:user}}"}) == {"a": "etl"}

    def test_a_link_in_a_directory_does_not_lead_out(self, tmp_path: Path, secrets: Path) -> None:
        (tmp_path / "outside").write_text(CANARY)
        (secrets / "out").symlink_to(tmp_path / "outside")
        providers = resolver(_dir_param_allowed_paths=str(secrets))
        assert "is outside of" in errors_of(providers, a=f"${{dir:{secrets}:out}}")["a"][0]


class TestProvidersOfAWorker:
    def test_what_connect_needs_to_be_declared_is_there(self, secrets: Path) -> None:
        text = f"${{file:{secrets}/db.properties:user}} ${{dir:{secrets}:token}} ${{env:KC_USER}}"
        assert resolved(text) == f"etl {CANARY}\n etl"

    @pytest.mark.parametrize("declared", ["", " , "])
    def test_an_empty_list_turns_them_off(self, declared: str) -> None:
        providers = ConfigResolver.from_worker({"config.providers": declared})
        assert providers.resolve({"a": "${env:KC_USER}"}) == {"a": "${env:KC_USER}"}

    @pytest.mark.parametrize("name", ["EnvVarConfigProvider", f"{PACKAGE}EnvVarConfigProvider"])
    def test_only_declared_ones_exist(self, name: str) -> None:
        providers = ConfigResolver.from_worker({"config.providers": " e , ", "config.providers.e.class": f" {name} "})
        assert providers.resolve({"a": "${e:KC_USER}", "b": "${env:KC_USER}"}) == {"a": "etl", "b": "${env:KC_USER}"}

    @pytest.mark.parametrize(
        ("worker", "key", "message"),
        [
            ({"": "v"}, ".v.class", "is missing; expected one of: org.apache"),
            ({"": "file"}, ".file.class", "is missing"),
            ({"": "v", ".v.class": "com.x.Vault"}, ".v.class", "Config provider com.x.Vault is not known here"),
            ({".file.param.allowed.paths": "relative"}, ".file.param.allowed.paths", "Path 'relative' is not valid"),
            ({".file.param.allowed.paths": "/no/where"}, ".file.param.allowed.paths", "should be absolute and exist"),
            ({".file.param.allowed.paths": ""}, ".file.param.allowed.paths", "Path '' is not valid"),
            ({".dir.param.allowed.path": "/tmp"}, ".dir.param.allowed.path", "is not a key of Directory"),
            ({".file.allowed.paths": "/tmp"}, ".file.allowed.paths", "expected one of: class, param.allowed.paths"),
            ({".env.param.allowlist.pattern": "("}, ".env.param.allowlist.pattern", "is not a regular expression"),
            ({".file.param.allowed.paths": "${env:HOME}"}, ".file.param.allowed.paths", "has a variable"),
            ({"": None}, "", "Null value"),
        ],
    )
    def test_error(self, worker: dict[str, Any], key: str, message: str) -> None:
        with pytest.raises(ConfigError) as caught:
            ConfigResolver.from_worker({f"config.providers{name}": value for name, value in worker.items()})
        assert message in caught.value.errors[f"config.providers{key}"][0]

    def test_all_errors_at_once(self) -> None:
        with pytest.raises(ConfigError) as caught:
            ConfigResolver.from_worker({"config.providers": "a,b", "config.providers.b.class": "X"})
        assert list(caught.value.errors) == ["config.providers.a.class", "config.providers.b.class"]

    def test_a_connector_cannot_define_one(self) -> None:
        props = {"config.providers": "e", "config.providers.e.class": "EnvVarConfigProvider", "a": "${e:KC_USER}"}
        assert resolver().resolve(props) == props


class TestSecrets:
    def test_resolved_values_are_known_as_they_are_and_trimmed(self, secrets: Path) -> None:
        providers = resolver()
        providers.resolve({"a": f"x${{dir:{secrets}:token}}${{env:KC_USER}}", "b": "plain${env:KC_EMPTY}"})
        assert providers.secrets == {f"{CANARY}\n", CANARY, "etl"}

    def test_errors_of_all_keys_name_variables_and_no_values(self, secrets: Path) -> None:
        file = f"{secrets}/db.properties"
        errors = errors_of(
            resolver(),
            good=f"${{file:{file}:password}}",
            mixed=f"${{file:{file}:password}}${{env:KC_MISSING}}${{env:KC_MISSING}}${{file:{file}:pasword}}",
            other=f"${{file:{file}.bak:password}}",
        )
        assert list(errors) == ["mixed", "other"]
        assert [message.split("} ")[0] + "}" for message in errors["mixed"]] == [
            "variable ${env:KC_MISSING}",
            f"variable ${{file:{file}:pasword}}",
        ]

    def test_the_error_has_the_name_of_the_connector(self) -> None:
        with pytest.raises(ConfigError, match="of connector orders"):
            resolver().resolve({"name": "orders", "a": "${env:KC_MISSING}"})

    def test_values_cannot_be_multiplied_without_bound(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("a" * 100_000)
        (error,) = errors_of(resolver(), key=f"${{dir:{tmp_path}:f}}" * 11)["key"]
        assert error == "is longer than 1000000 characters with its variables resolved"

    @pytest.mark.parametrize("key", ["tasks.max", "connector.class", "topic", "errors.tolerance"])
    def test_validation_quotes_the_variable(self, secrets: Path, key: str) -> None:
        providers, variable = resolver(), f"${{dir:{secrets}:token}}"
        (secrets / "token").write_text(f"{CANARY} !\n")
        with pytest.raises(ConfigError) as caught, providers.hidden_in_errors():
            validate_connector(providers.resolve({**SOURCE, key: variable}))
        assert CANARY not in str(caught.value)
        assert variable in str(caught.value.errors[key])

    def test_short_values_are_hidden_where_they_are_words(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("KC_SHORT", "a")
        providers = resolver()
        providers.resolve({"k": "${env:KC_SHORT}"})
        assert providers.hide("Invalid value a for map") == "Invalid value ${env:KC_SHORT} for map"

    def test_the_repr_shows_none(self, secrets: Path) -> None:
        providers = resolver()
        providers.resolve({"a": f"${{dir:{secrets}:token}}"})
        assert CANARY not in repr(providers)


class TestJob:
    def test_errors_of_the_connector(self, secrets: Path) -> None:
        variable = f"${{file:{secrets}/db.properties:password}}"
        worker = {**KAFKA, "group.id": "${env:KC_USER}"}
        with pytest.raises(ConfigError) as caught:
            run(RunSpec({**SOURCE, "tasks.max": variable}, worker, "source"))
        assert caught.value.errors["tasks.max"][0].startswith(f"Invalid value {variable} for configuration tasks.max")
        assert CANARY not in str(caught.value)

    def test_variables_of_the_worker_without_value(self) -> None:
        with pytest.raises(ConfigError) as caught:
            run(RunSpec(SOURCE, {"bootstrap.servers": "${env:KC_MISSING}"}, "source"))
        assert caught.value.errors == {
            "bootstrap.servers": [
                "variable ${env:KC_MISSING} names an environment variable that is not set for the job"
            ]
        }

    def test_the_worker_has_values_before_it_is_validated(self) -> None:
        with pytest.raises(ConfigError) as caught:
            run(RunSpec({**SOURCE, "tasks.max": "x"}, {"bootstrap.servers": "${env:KC_USER}:9092"}))
        assert list(caught.value.errors) == ["tasks.max"]

    def test_a_worker_that_defines_no_providers_for_connectors(self) -> None:
        with pytest.raises(ConfigError) as caught:
            run(RunSpec({**SOURCE, "tasks.max": "${env:KC_USER}"}, {**KAFKA, "config.providers": ""}))
        assert "Invalid value ${env:KC_USER}" in caught.value.errors["tasks.max"][0]


class TestAirflowVariables:
    PASSWORD = "${airflow:db:password}"
    FOUND = {"airflow:db:password": CANARY, "airflow-var::folder": "/data"}

    def test_have_the_values_that_the_task_has_looked_up(self) -> None:
        found = ConfigResolver.from_worker({}, self.FOUND).resolve({"a": self.PASSWORD, "b": "${airflow-var:folder}/x"})
        assert found == {"a": CANARY, "b": "/data/x"}

    @pytest.mark.parametrize("text", ["${airflow-var:folder}", "${airflow-var::folder}"])
    def test_an_empty_path_means_the_same(self, text: str) -> None:
        assert ConfigResolver.from_worker({}, self.FOUND).resolve({"a": text}) == {"a": "/data"}

    def test_are_there_beside_the_providers_of_a_worker(self) -> None:
        worker = {"config.providers": "e", "config.providers.e.class": "EnvVarConfigProvider"}
        found = ConfigResolver.from_worker(worker, self.FOUND).resolve({"a": self.PASSWORD, "b": "${e:KC_USER}"})
        assert found == {"a": CANARY, "b": "etl"}

    def test_a_provider_of_that_name_in_the_worker_wins(self) -> None:
        worker = {"config.providers": "airflow", "config.providers.airflow.class": "EnvVarConfigProvider"}
        assert ConfigResolver.from_worker(worker, self.FOUND).resolve({"a": "${airflow:KC_USER}"}) == {"a": "etl"}

    def test_a_worker_that_turns_variables_off_turns_these_off(self) -> None:
        props = {"a": self.PASSWORD}
        assert ConfigResolver.from_worker({"config.providers": ""}, self.FOUND).resolve(props) == props

    def test_without_airflow_they_are_an_error(self) -> None:
        assert errors_of(ConfigResolver.from_worker({}), a=self.PASSWORD) == {
            "a": [f"variable {self.PASSWORD} {NEEDS_AIRFLOW}"]
        }

    def test_one_that_was_not_looked_up_is_an_error(self) -> None:
        assert list(errors_of(ConfigResolver.from_worker({}, {}), a=self.PASSWORD)) == ["a"]

    def test_values_are_hidden_in_errors_of_the_job(self) -> None:
        with pytest.raises(ConfigError) as caught:
            run(RunSpec({**SOURCE, "tasks.max": self.PASSWORD}, KAFKA, "source", variables=self.FOUND))
        assert caught.value.errors["tasks.max"][0].startswith(f"Invalid value {self.PASSWORD} for configuration")

    @pytest.mark.parametrize(
        ("worker", "found"),
        [
            pytest.param({}, ["airflow:db:password", "airflow-var::v"], id="no providers defined"),
            pytest.param({"config.providers": "file, airflow"}, ["airflow-var::v"], id="one has another meaning"),
            pytest.param({"config.providers": " "}, [], id="turned off"),
        ],
    )
    def test_which_a_task_looks_up(self, worker: dict[str, str], found: list[str]) -> None:
        config = {"a": f"x{self.PASSWORD}", "b": 3, "c": "${env:X}${airflow-var:v}"}
        assert [variable.address for _, variable in task_variables(config, worker)] == found

    def test_those_that_define_providers_are_none(self) -> None:
        worker = {"config.providers.file.param.allowed.paths": self.PASSWORD, "group.id": self.PASSWORD}
        assert [key for key, _ in task_variables(worker, worker)] == ["group.id"]


def errors_without_references(*arguments: Any) -> dict[str, list[str]]:
    return inspect_without_references(*arguments).errors


class TestWithoutReferences:
    @pytest.mark.parametrize(
        ("changes", "wrong"),
        [
            pytest.param({}, [], id="valid"),
            pytest.param({"tasks.max": "${env:N}"}, [], id="number by reference"),
            pytest.param({"tasks.max": "x"}, ["tasks.max"], id="no reference"),
            pytest.param({"tasks.max": "x", "file": "${env:F}"}, ["tasks.max"], id="another key by reference"),
            pytest.param({"tasks.max": "x", "topic": "${env:T}"}, ["tasks.max"], id="topic by reference"),
            pytest.param({"connector.class": "${env:C}", "tasks.max": "x"}, ["tasks.max"], id="class by reference"),
            pytest.param({"connector.class": "Nothing", "topic": "${env:T}"}, ["connector.class"], id="unknown class"),
            pytest.param({"transforms": "${env:T}"}, [], id="aliases by reference"),
            pytest.param({"topic.creation.groups": "${env:T}", "topic.creation.a.include": "x"}, [], id="groups"),
            pytest.param({"topic": None, "file": "${env:F}"}, ["topic"], id="null"),
            pytest.param({"files": "${env:F}"}, [], id="rule of the connector about a key by reference"),
        ],
    )
    def test_errors(self, changes: dict[str, Any], wrong: list[str]) -> None:
        assert list(errors_without_references({**SOURCE, **changes}, KAFKA, "source")) == wrong

    def test_rules_of_connect_still_count(self) -> None:
        config = {**SINK, "topics.regex": "o.*", "directory": "${env:D}"}
        assert sorted(errors_without_references(config, KAFKA, "sink")) == ["topics", "topics.regex"]
        assert list(errors_without_references(config, KAFKA, "source")) != []

    def test_kind_still_counts(self) -> None:
        assert list(errors_without_references({**SINK, "directory": "${env:D}"}, KAFKA, "source")) == [
            "connector.class"
        ]

    def test_the_worker_may_have_references(self) -> None:
        worker = {"bootstrap.servers": "${env:BROKERS}", "offset.storage.partitions": "${env:N}"}
        assert errors_without_references(SOURCE, worker) == {}

    def test_the_worker_without_reference_is_checked(self) -> None:
        with pytest.raises(ConfigError) as caught:
            errors_without_references(SOURCE, {"bootstrap.servers": "${env:B}", "offset.storage.partitions": "x"})
        assert list(caught.value.errors) == ["offset.storage.partitions"]

    def test_the_same_as_validation_where_there_are_none(self) -> None:
        config = {**SOURCE, "file": "", "tasks.max": "0", "errors.tolerance": "some"}
        with pytest.raises(ConfigError) as caught:
            validate_connector(config, worker=WorkerConfig.from_props(KAFKA))
        assert errors_without_references(config, KAFKA) == caught.value.errors

    def test_warnings_that_are_sure_stay(self) -> None:
        config = {**SOURCE, "value.converter": "${env:V}", "value.converter.schemas.enable": "false", "tpic": "x"}
        (warning,) = inspect_without_references(config, KAFKA).warnings
        assert warning.startswith("`tpic`")
