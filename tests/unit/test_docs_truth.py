"""What pages say of configuration keys is what the definitions say: keys that exist, defaults, and which are ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from airflow_kconnect.cli import app
from airflow_kconnect.cli.reference import default_text
from airflow_kconnect.connect.config import ConfigKey
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.validation.connector_keys import sink_config, source_config
from airflow_kconnect.worker_config import client_keys
from airflow_kconnect.worker_config.keys import worker_config_def

REPOSITORY = Path(__file__).parents[2]
CONFIGURATION = REPOSITORY / "docs" / "configuration.md"
PAGES = [
    CONFIGURATION,
    *sorted((REPOSITORY / "docs" / "connectors").glob("*.md")),
    REPOSITORY / "docs" / "guides" / "singer-and-airbyte.md",
]
TRANSFORMATIONS = plugins.registry().names(plugins.TRANSFORMS)
# Settings of clients, of which librdkafka has more than are known here.
_CLIENT_KEY = re.compile(
    r"((producer|consumer|admin)\.(override\.)?|security\.|sasl\.|ssl\.|config\.providers).*"
    r"|client\.id|retry\.backoff\.ms|transaction\.timeout\.ms|metadata\.max\.age\.ms|buffer\.memory|isolation\.level"
    r"|linger\.ms|compression\.type|queue\.buffering\.max\.kbytes"
)
# Names of tables, parameters of providers, settings of brokers.
_NO_KEYS = {
    "notes.warnings",
    *("public.orders", "server.schema.table", "allowed.paths", "allowlist.pattern"),
    "transaction.max.timeout.ms",
    *("write.delete.mode", "write.update.mode", "write.merge.mode"),  # of tables of Iceberg
}
_UNITS = {"KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "ms": 1, "s": 1000, "bytes": 1, "": 1}


def _plugin_keys() -> Iterator[ConfigKey]:
    registry = plugins.registry()
    for name in registry.names(plugins.CONNECTORS):
        yield from registry.connector(name).config().keys.values()
    for name in registry.names(plugins.CONVERTERS):
        yield from registry.converter(name).config().keys.values()
    for name in registry.names(plugins.TRANSFORMS):
        yield from registry.transform(name).config().keys.values()


def _keys() -> dict[str, list[ConfigKey]]:
    by_name: dict[str, list[ConfigKey]] = {}
    for definition in (worker_config_def(), source_config(), sink_config()):
        for key in definition.keys.values():
            by_name.setdefault(key.name, []).append(key)
    for key in _plugin_keys():
        by_name.setdefault(key.name, []).append(key)
    return by_name


KEYS = _keys()


def _looks_like_a_key(text: str) -> bool:
    """Several words of small letters with dots between them: `kconnect.max.records`."""
    return re.fullmatch(r"[a-z]+(\.[a-z]+)+", text) is not None


def _is_known(key: str) -> bool:
    client = {*client_keys._RENAMED, *client_keys._RENAMED.values()}
    patterns = (client_keys._DROPPED, client_keys._REFUSED, _CLIENT_KEY)
    return key in KEYS or key in client or any(pattern.fullmatch(key) for pattern in patterns)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_key_that_a_page_names_exists(page: Path) -> None:
    named = re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8"))
    unknown = [key for key in named if _looks_like_a_key(key) and not _is_known(key) and key not in _NO_KEYS]
    assert unknown == [], "write what is below a prefix without it, and what is not a key into _NO_KEYS"


def _tables_with_defaults() -> Iterator[tuple[str, str, str]]:
    """Page, key and cell of the column `Default`, of every table that has one; a cell may be for several keys.

    Keys without a dot are left out: parameters of operators and of backfills have such names too.
    """
    for page in sorted((REPOSITORY / "docs").rglob("*.md")):
        column = None
        for line in page.read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip("|").split(" | ")] if line.startswith("|") else []
            if not cells:
                column = None
            elif "Default" in cells:
                column = cells.index("Default")
            elif column is not None and len(cells) > column:
                yield from (
                    (page.name, key, cells[column])
                    for key in re.findall(r"`([a-z]+\.[a-z.]+)`", cells[0])
                    if key in KEYS
                )


@pytest.mark.parametrize(("page", "key", "cell"), sorted(set(_tables_with_defaults())))
def test_a_default_in_a_table_is_right(page: str, key: str, cell: str) -> None:
    assert any(default_text(definition) in cell for definition in KEYS[key])


def test_tables_state_defaults() -> None:
    assert {"configuration.md", "errors.md"} <= {page for page, *_ in _tables_with_defaults()}


def _stated_defaults() -> Iterator[tuple[str, str, str]]:
    """Page, key and value where a sentence has the default in brackets: ``split.bytes`` (64 MiB)."""
    for page in PAGES:
        for key, value in re.findall(r"`([a-z.]+)`\s+\(([^)]+)\)", page.read_text(encoding="utf-8")):
            if key in KEYS and re.fullmatch(r"-?\d[\d ]*( ?[KMG]iB| m?s| bytes)?|`[^`]+`", value):
                yield page.name, key, value


def _number(text: str) -> str:
    """Plain number of a text with blanks and a unit; a text in backticks as it is."""
    if text.startswith("`"):
        return text.strip("`")
    match = re.fullmatch(r"(-?\d[\d ]*?) ?([KMG]iB|m?s|bytes|)", text)
    assert match is not None
    return str(int(match[1].replace(" ", "")) * _UNITS[match[2]])


@pytest.mark.parametrize(("page", "key", "value"), _stated_defaults())
def test_a_default_that_a_sentence_states_is_right(page: str, key: str, value: str) -> None:
    assert _number(value) in {default_text(definition).strip("`") for definition in KEYS[key]}


def test_pages_state_defaults_in_sentences() -> None:
    assert ("file-source.md", "split.bytes", "64 MiB") in set(_stated_defaults())


@pytest.mark.parametrize("name", plugins.registry().names(plugins.CONVERTERS))
def test_every_converter_is_in_the_list_of_installed_ones(name: str) -> None:
    section = CONFIGURATION.read_text(encoding="utf-8").split("\n## Converters\n")[1].split("\n## ")[0]
    assert f"[`{name.rpartition('.')[2]}`](reference/converters/{name}.md)" in section


@pytest.mark.parametrize("name", plugins.registry().names(plugins.CONNECTORS))
def test_every_connector_has_a_page_that_names_its_class(name: str) -> None:
    pages = [page.read_text(encoding="utf-8") for page in PAGES if page != CONFIGURATION]
    simple = name.rpartition(".")[2]
    assert any(name in text or (name.startswith("airflow_kconnect.") and simple in text) for text in pages)


@pytest.mark.parametrize(
    "name",
    sorted({re.split(r"[.$]", name.removesuffix("$Key").removesuffix("$Value"))[-1] for name in TRANSFORMATIONS}),
)
def test_every_transformation_has_a_row_in_the_guide_that_links_its_section_if_there_is_one(name: str) -> None:
    guide = (REPOSITORY / "docs" / "guides" / "transformations.md").read_text(encoding="utf-8")
    row = f"| [{name}](#{name.lower()}) |" if f"\n## {name}\n" in guide else f"| {name} |"
    assert row in guide


def _commands(group: TyperGroup, *names: str) -> Iterator[str]:
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from _commands(command, *names, name)
        else:
            yield " ".join((*names, name))


def test_every_command_is_on_the_page_of_the_command_line() -> None:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    page = (REPOSITORY / "docs" / "command-line.md").read_text(encoding="utf-8")
    examples = re.findall(r"kconnect ([a-z]+)(?: ([a-z]+))?", page)
    named = {name for first, second in examples for name in (first, f"{first} {second}")}
    assert [command for command in _commands(group) if command not in named] == []
