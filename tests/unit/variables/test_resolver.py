"""Config providers: Connect's variables, and that no value gets into an error text."""

from __future__ import annotations

import json
import os
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.variables.providers import NEEDS_AIRFLOW
from airflow_kconnect.variables.resolver import ConfigResolver, java_variables, task_variables
from airflow_kconnect.variables.syntax import has_reference, variables_in
from tests.support.variables import CANARY, CONNECT, KAFKA, PACKAGE, SOURCE, errors_of, resolved, resolver

pytestmark = pytest.mark.usefixtures("environment")


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

    def test_a_key_of_ours_cannot_keep_a_variable(self) -> None:
        with pytest.raises(ConfigError) as caught:
            resolver().resolve({"file": "x${a:b}", "kconnect.jdbc.driver.path": "/jars/x${a:b}.jar"})
        ((key, (problem,)),) = caught.value.errors.items()
        assert key == "kconnect.jdbc.driver.path"
        assert problem.startswith("variable ${a:b} is of a provider that is not configured")

    def test_keys_and_what_is_not_text_stay(self) -> None:
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
        assert time.monotonic() - started < 30

    @pytest.mark.parametrize(("value", "expected"), [("${a:b}", True), ("a", False), (None, False), (3, False)])
    def test_has_reference(self, value: object, expected: bool) -> None:
        assert has_reference(value) is expected


VAULT = {"config.providers.v.class": "com.x.Vault", "config.providers.v.param.any.thing": "x"}


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
            ({"": "v", ".v.class": "Vault"}, ".v.class", "Config provider Vault is not known here"),
            ({"": "v", ".v.class": f"{PACKAGE}Vault"}, ".v.class", "Vault is not known here"),
            ({"": "kconnect", ".kconnect.class": "com.x.Vault"}, ".kconnect.class", "cannot have the name kconnect"),
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

    def test_variables_of_a_java_class_stay_for_connect(self, caplog: pytest.LogCaptureFixture) -> None:
        worker = {"config.providers": "env,v", "config.providers.env.class": "EnvVarConfigProvider", **VAULT}
        found = ConfigResolver.from_worker(worker).resolve({"a": "${env:KC_USER}:${v:db:password}"})
        assert found == {"a": "etl:${v:db:password}"}
        assert not caplog.records

    def test_what_only_python_reads_cannot_have_such_variables(self) -> None:
        worker = {"config.providers": "v", **VAULT, "sasl.password": "${v:kafka:password}"}
        with pytest.raises(ConfigError) as caught:
            ConfigResolver.from_worker(worker)
        assert "only Java has (com.x.Vault)" in caught.value.errors["sasl.password"][0]
        found = java_variables({"topic": "orders", "password": "${v:db:p}"}, worker, "a connector that is not hosted")
        assert list(found) == ["password"]

    def test_a_connector_that_is_not_hosted_cannot_either(self) -> None:
        worker = {"bootstrap.servers": "127.0.0.1:1", "config.providers": "v", **VAULT}
        config = {"name": "lines", "connector.class": "FileStreamSource", "file": "${v:shop:file}", "topic": "lines"}
        with pytest.raises(ConfigError, match=r"`file`: variable \$\{v:shop:file\} is of a config provider"):
            run(RunSpec(config, worker))

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
            mixed=f"${{file:{file}:password}}${{env:KC_MISSING}}${{env:KC_MISSING}}${{file:{file}:pass}}",
            other=f"${{file:{file}.bak:password}}",
        )
        assert list(errors) == ["mixed", "other"]
        assert [message.split("} ")[0] + "}" for message in errors["mixed"]] == [
            "variable ${env:KC_MISSING}",
            f"variable ${{file:{file}:pass}}",
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
    LOOKED_UP = {"airflow:db:password": CANARY, "airflow-var::folder": "/data"}

    def test_have_the_values_that_the_task_has_looked_up(self) -> None:
        values = ConfigResolver.from_worker({}, self.LOOKED_UP).resolve(
            {"a": self.PASSWORD, "b": "${airflow-var:folder}/x"}
        )
        assert values == {"a": CANARY, "b": "/data/x"}

    @pytest.mark.parametrize("text", ["${airflow-var:folder}", "${airflow-var::folder}"])
    def test_an_empty_path_means_the_same(self, text: str) -> None:
        assert ConfigResolver.from_worker({}, self.LOOKED_UP).resolve({"a": text}) == {"a": "/data"}

    def test_are_there_next_to_the_providers_of_a_worker(self) -> None:
        worker = {"config.providers": "e", "config.providers.e.class": "EnvVarConfigProvider"}
        values = ConfigResolver.from_worker(worker, self.LOOKED_UP).resolve({"a": self.PASSWORD, "b": "${e:KC_USER}"})
        assert values == {"a": CANARY, "b": "etl"}

    def test_a_provider_of_that_name_in_the_worker_wins(self) -> None:
        worker = {"config.providers": "airflow", "config.providers.airflow.class": "EnvVarConfigProvider"}
        assert ConfigResolver.from_worker(worker, self.LOOKED_UP).resolve({"a": "${airflow:KC_USER}"}) == {"a": "etl"}

    def test_a_worker_that_turns_variables_off_turns_these_off(self) -> None:
        props = {"a": self.PASSWORD}
        assert ConfigResolver.from_worker({"config.providers": ""}, self.LOOKED_UP).resolve(props) == props

    def test_without_airflow_they_are_an_error(self) -> None:
        assert errors_of(ConfigResolver.from_worker({}), a=self.PASSWORD) == {
            "a": [f"variable {self.PASSWORD} {NEEDS_AIRFLOW}"]
        }

    def test_one_that_was_not_looked_up_is_an_error(self) -> None:
        assert list(errors_of(ConfigResolver.from_worker({}, {}), a=self.PASSWORD)) == ["a"]

    def test_values_are_hidden_in_errors_of_the_job(self) -> None:
        with pytest.raises(ConfigError) as caught:
            run(RunSpec({**SOURCE, "tasks.max": self.PASSWORD}, KAFKA, "source", variables=self.LOOKED_UP))
        assert caught.value.errors["tasks.max"][0].startswith(f"Invalid value {self.PASSWORD} for configuration")

    @pytest.mark.parametrize(
        ("worker", "addresses"),
        [
            pytest.param({}, ["airflow:db:password", "airflow-var::v"], id="no providers defined"),
            pytest.param({"config.providers": "file, airflow"}, ["airflow-var::v"], id="one has another meaning"),
            pytest.param({"config.providers": " "}, [], id="turned off"),
        ],
    )
    def test_which_a_task_looks_up(self, worker: dict[str, str], addresses: list[str]) -> None:
        config = {"a": f"x{self.PASSWORD}", "b": 3, "c": "${env:X}${airflow-var:v}"}
        assert [variable.address for _, variable in task_variables(config, worker)] == addresses

    def test_those_that_define_providers_are_none(self) -> None:
        worker = {"config.providers.file.param.allowed.paths": self.PASSWORD, "group.id": self.PASSWORD}
        assert [key for key, _ in task_variables(worker, worker)] == ["group.id"]


def test_the_job_refuses_what_the_worker_does_not_allow_of_airflow() -> None:
    key = "config.providers.airflow.param.allowlist.pattern"
    made = ConfigResolver.from_worker({key: "kafka_.*"}, {"airflow:db:password": CANARY})
    assert errors_of(made, a="${airflow:db:password}") == {
        "a": ["variable ${airflow:db:password} is not allowed by `allowlist.pattern`"]
    }


@pytest.mark.parametrize(
    "name", ["AIRFLOW__CORE__FERNET_KEY", "AIRFLOW_CONN_DB", "AIRFLOW_VAR_X", "_AIRFLOW_WWW_USER_PASSWORD"]
)
def test_the_environment_has_no_settings_of_airflow(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, CANARY)
    (message,) = errors_of(resolver(), a=f"${{env:{name}}}")["a"]
    assert "names a variable of Airflow itself, which jobs do not get" in message


class TestHiding:
    @pytest.fixture
    def made(self, monkeypatch: pytest.MonkeyPatch) -> ConfigResolver:
        monkeypatch.setenv("SECRET", CANARY + " \"ä/\n+'")
        monkeypatch.setenv("PEM", "-----BEGIN KEY-----\nMIIEcanary\n}\n-----END KEY-----\n")
        monkeypatch.setenv("COUNT", "4")
        made = resolver()
        made.resolve({"a": "${env:SECRET}", "b": "${env:PEM}", "c": "${env:COUNT}"})
        return made

    @pytest.mark.parametrize(
        "form", [str, json.dumps, repr, urllib.parse.quote, urllib.parse.quote_plus, lambda text: f"x{text}y"]
    )
    def test_in_each_form(self, made: ConfigResolver, form: Callable[[str], str]) -> None:
        hidden = made.hide(f"cannot connect with {form(os.environ['SECRET'])}!")
        assert CANARY not in hidden
        assert "${env:SECRET}" in hidden

    def test_line_by_line(self, made: ConfigResolver) -> None:
        assert made.hide("bad key: MIIEcanary }") == "bad key: ${env:PEM} }"
