"""`kconnect reference`, and the pages that are made with it."""

from __future__ import annotations

import re
from importlib.metadata import entry_points
from pathlib import Path
from urllib.parse import quote

import pytest
import typer
from typer.testing import CliRunner

from airflow_kconnect.cli.reference import markdown, overview, pages, reference, write
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins.registry import CONNECTORS, CONVERTERS, PREDICATES, TRANSFORMS

DOCS = Path(__file__).parents[3] / "docs" / "reference"
OWN = "airflow_kconnect."
GROUPS = {
    CONNECTORS: "connector", CONVERTERS: "converter", TRANSFORMS: "transformation", PREDICATES: "predicate"
}  # fmt: skip
CURE = "run make setup, if an entry point is new, and then: kconnect reference --into docs/reference"


def _run(*arguments: str) -> tuple[int, str, str]:
    app = typer.Typer()
    app.command("reference")(reference)
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_committed_pages_are_up_to_date() -> None:
    committed = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
    made = pages()
    assert sorted(committed) == sorted(made), CURE
    assert committed == made, CURE


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("FileStreamSource", "| `topic` | string | required | high | The topic to publish data to |"),
        ("FileStreamSource", "| `on.replaced` | string | `fail` | medium |"),
        ("org.apache.kafka.connect.file.FileStreamSourceConnector", "| `file` | string | not set | high |"),
        ("VerifiableSink", "`<log.file>-<topic>-<partition>`"),
        ("JsonConverter", "| `schemas.enable` | boolean | `true` | high |"),
        ("worker", "| `exactly.once.source.support` | string | `enabled` | high |"),
        ("source", "| `kconnect.max.records` | long | not set | medium |"),
        ("source", "| `topic.creation.default.partitions` | int | required | low |"),
        ("sink", "| `topics` | list | empty | high |"),
        ("JdbcSource", "`READ_COMMITTED`, `REPEATABLE_READ`, `SERIALIZABLE`, `SQL_SERVER_SNAPSHOT`. |"),
    ],
)
def test_keys_are_rows_of_a_table(name: str, row: str) -> None:
    assert row in markdown(name)


def test_error_about_an_unknown_name_says_where_the_known_ones_are() -> None:
    with pytest.raises(ConfigError, match=r"there is no plugin Nothing; `kconnect reference` lists all names"):
        markdown("Nothing")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("jdbcsink", "`JdbcSink`"),
        ("FileStreamSourceConector", "`FileStreamSourceConnector`"),
        ("cast$value", "`Cast$Value`"),
        ("workers", "`worker`"),
    ],
)
def test_a_name_with_a_slip_gets_a_hint(written: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=r"did you mean [^?]*" + re.escape(meant)):
        markdown(written)


@pytest.mark.parametrize("group", [CONNECTORS, CONVERTERS, TRANSFORMS, PREDICATES])
def test_every_class_has_exactly_one_page(group: str) -> None:
    targets = {entry_point.value for entry_point in entry_points(group=group) if entry_point.module.startswith(OWN)}
    folder = DOCS / f"{GROUPS[group]}s"
    names = {entry_point.name for entry_point in entry_points(group=group)}
    classes = [
        re.findall("^`(.+?)`: a ", path.read_text(encoding="utf-8"), re.MULTILINE) for path in folder.glob("*.md")
    ]
    assert len(classes) == len(targets), CURE
    assert {name for found in classes for name in found} <= names


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("io.aiven.connect.jdbc.JdbcSinkConnector", "JDBC sink (Aiven)"),
        ("JdbcSource", "JDBC source (Confluent)"),
        ("DirectorySink", "Directory sink"),
        ("JsonConverter", "JsonConverter"),
        ("JsonSchemaConverter", "JsonSchemaConverter"),
        (
            "com.amazonaws.services.schemaregistry.kafkaconnect.jsonschema.JsonSchemaConverter",
            "JsonSchemaConverter (Amazon)",
        ),
        ("Cast$Key", "Cast$Key"),
        ("HasHeaderKey", "HasHeaderKey (predicate)"),
    ],
)
def test_a_title_is_short_and_tells_source_from_sink_and_makers_apart(name: str, title: str) -> None:
    assert markdown(name).startswith(f"# {title}\n")


def test_no_two_pages_have_one_title_or_one_that_a_menu_cuts() -> None:
    titles = [text.partition("\n")[0].removeprefix("# ") for text in pages().values()]
    assert len(set(titles)) == len(titles) and max(map(len, titles)) <= 31


def test_every_name_of_an_entry_point_leads_to_its_page() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    names = [entry_point.name for group in GROUPS for entry_point in entry_points(group=group)]
    assert [name for name in names if f"- [{name}](" not in index] == []


def test_no_name_of_a_page_needs_escaping_in_an_address() -> None:
    assert [path for path in pages() if path != quote(path)] == []


def test_two_makers_of_one_connector_have_pages_of_their_own() -> None:
    own = pages()["connectors/io.aiven.connect.jdbc.JdbcSinkConnector.md"]
    other = pages()["connectors/io.confluent.connect.jdbc.JdbcSinkConnector.md"]
    for key in ("topics.to.tables.mapping", "table.name.normalize", "sql.quote.identifiers"):
        assert f"| `{key}` |" in own and f"| `{key}` |" not in other


def test_a_page_names_what_its_class_is_called_too() -> None:
    text = pages()["connectors/io.confluent.connect.jdbc.JdbcSinkConnector.md"]
    assert "Other names: `airflow_kconnect.connectors.jdbc.JdbcSinkConnector`, `JdbcSinkConnector`, `JdbcSink`." in text


@pytest.mark.parametrize(
    ("page", "key"),
    [
        ("source", "tasks.max.enforce"),
        ("sink", "config.action.reload"),
        ("worker", "offset.flush.timeout.ms"),
        ("JdbcSink", "batch.size"),
        ("JdbcSource", "poll.interval.ms"),
        ("FileStreamSource", "batch.size"),
        ("JsonConverter", "schemas.cache.size"),
    ],
)
def test_a_key_without_effect_says_so(page: str, key: str) -> None:
    (row,) = [line for line in markdown(page).splitlines() if line.startswith(f"| `{key}` |")]
    assert "Without effect here: " in row


@pytest.mark.parametrize(
    ("page", "row"),
    [
        ("own", "| `kconnect.splits.max` | [sources](source.md), [sinks](sink.md) | not set | "),
        ("own", "| `kconnect.plugin.install` | [worker](worker.md) | "),
        ("own", "| `split.bytes` | [Files source]("),
        ("ignored", "| `tasks.max.enforce` | [sources](source.md), [sinks](sink.md) | `true` | more tasks than"),
        ("ignored", "| `poll.interval.ms` | [JDBC source (Confluent)]("),
    ],
)
def test_keys_of_many_classes_are_one_row_that_names_them(page: str, row: str) -> None:
    assert sum(line.startswith(row) for line in markdown(page).splitlines()) == 1


def test_a_key_that_means_different_things_has_a_row_for_each() -> None:
    rows = [line for line in markdown("ignored").splitlines() if line.startswith("| `batch.size` |")]
    assert len(rows) > 1 and len({row.split(" | ")[3] for row in rows}) == len(rows)


@pytest.mark.parametrize("key", ["topics", "connection.url", "batch.max.size"])
def test_keys_of_others_that_have_an_effect_are_on_neither_page(key: str) -> None:
    assert f"| `{key}` |" not in markdown("own") + markdown("ignored")


def test_command_without_name_lists_plugins() -> None:
    assert _run() == (0, overview(), "")
    assert "- `org.apache.kafka.connect.json.JsonConverter`: converter" in overview()


def test_command_prints_the_page_of_a_name() -> None:
    assert _run("worker") == (0, markdown("worker"), "")


def test_command_with_unknown_name_fails_in_one_line() -> None:
    code, out, error = _run("Nothing")
    assert (code, out) == (1, "")
    assert error.startswith("Error: ") and error.count("\n") == 1


def test_writing_removes_stale_pages_of_its_own_only(tmp_path: Path) -> None:
    write(tmp_path)
    gone, foreign = tmp_path / "connectors" / "Gone.md", tmp_path / "notes.md"
    gone.write_text((tmp_path / "worker.md").read_text(encoding="utf-8"), encoding="utf-8")
    foreign.write_text("# Mine\n", encoding="utf-8")
    write(tmp_path)
    assert foreign.exists() and not gone.exists()
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md")} == {*pages(), "notes.md"}
