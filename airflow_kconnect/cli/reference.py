"""`kconnect reference`: the configuration keys of connectors, converters and the worker, as Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any

import typer

from airflow_kconnect.cli.errors import errors_in_one_line
from airflow_kconnect.connect.config import ConfigDef, ConfigKey, Type, java_text
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.validation.connector_keys import KCONNECT, sink_config, source_config
from airflow_kconnect.validation.stage_keys import TOPIC_CREATION_PREFIX, enrich
from airflow_kconnect.worker_config.keys import worker_config_def

_MADE_BY = '<!-- Made by "kconnect reference --into docs/reference": do not edit. -->\n\n'
_HEAD = "| Key | Type | Default | Importance | What it does |\n|---|---|---|---|---|\n"
# What a group of topic creation is called where any name could stand.
_ANY_GROUP = "GROUP"

# How the titles of connectors write what class names write otherwise.
_WORDS = {
    "Http": "HTTP",
    "Jdbc": "JDBC",
    "AzureBlobStorage": "Azure Blob",
    "Gcs": "GCS",
    "com.amazonaws": "Amazon",
    "io.aiven": "Aiven",
    "io.confluent": "Confluent",
}
_SIDE = re.compile(r"(.+)(Source|Sink)Connector")

_KINDS = {
    plugins.CONNECTORS: "connector",
    plugins.CONVERTERS: "converter",
    plugins.TRANSFORMS: "transformation",
    plugins.PREDICATES: "predicate",
}
_NOTES = {
    plugins.CONVERTERS: "Write each key below the record part that it is for: `value.converter.<key>`, "
    "`key.converter.<key>`. They count only where the class is named too.",
    plugins.TRANSFORMS: "Write each key below the alias: `transforms.<alias>.<key>`.",
    plugins.PREDICATES: "Write each key below the alias: `predicates.<alias>.<key>`.",
}


def markdown(name: str) -> str:
    """The keys of one plugin, of the worker, or of every source or sink connector.

    :param name: a class name of a plugin, full or simple, or `worker`, `source`, `sink`, `own`, `ignored`.
    :raises ConfigError: nothing has that name; the text lists what there is.
    """
    if name in _FIXED:
        return _FIXED[name]()
    group, full_name = _resolve(name)
    return _plugin_page(group, full_name)


def overview() -> str:
    """What `markdown` has a page for: the fixed names, then the installed plugins."""
    lines = ["- `worker`: keys of the worker", "- `source`, `sink`: keys of every source or sink connector"]
    lines += ["- `own`: keys that Connect does not have", "- `ignored`: keys of Connect that have no effect"]
    lines += [f"- `{name}`: {_KINDS[group]}" for group, name in _plugins()]
    return "\n".join(["# Reference of configuration keys", "", *lines, ""])


def reference(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Class name of a connector or converter, full or simple; or `worker`, `source`, `sink`, `own`, "
            "`ignored`. "
            "Without it the known names are listed.",
            show_default=False,
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(help="Write a page for each class of this package into this folder instead.", show_default=False),
    ] = None,
) -> None:
    """Print configuration keys as Markdown tables: name, type, default, importance, documentation."""
    if into is not None:
        return write(into)
    with errors_in_one_line():
        typer.echo(overview() if name is None else markdown(name), nl=False)


def pages() -> dict[str, str]:
    """The pages of the documentation, one per class: path below the folder -> text. Classes of other packages have
    none."""
    own = [(group, name) for group, name in _plugins() if _load(group, name).__module__.startswith("airflow_kconnect.")]
    texts = {f"{name}.md": page() for name, page in _FIXED.items()}
    texts |= {_path(group, name): _plugin_page(group, name) for group, name in own}
    texts["index.md"] = _index(own)
    # After the title: a site takes that of a page only from its first line.
    return {path: text.replace("\n\n", f"\n\n{_MADE_BY}", 1) for path, text in texts.items()}


def write(folder: Path) -> None:
    """Write the pages below a folder, and remove pages that this command made for what is no more."""
    texts = pages()
    for path in folder.rglob("*.md"):
        stale = str(path.relative_to(folder)) not in texts and _MADE_BY in path.read_text(encoding="utf-8")
        if stale:
            path.unlink()
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _worker_page() -> str:
    intro = (
        "Keys of a Connect worker that count here. Client settings, converter settings and settings of new internal "
        "topics are keys of a worker too: `producer.*`, `consumer.*`, `admin.*`, `security.*`, `sasl.*`, `ssl.*`, "
        "`value.converter.*`, `offset.storage.*`.\n\n"
    )
    return "# Worker keys\n\n" + intro + _table(worker_config_def().keys.values())


def _source_page() -> str:
    base = source_config()
    # Any key below the prefix brings the groups' keys into being.
    groups = enrich(base, {"topic.creation.groups": _ANY_GROUP, f"{TOPIC_CREATION_PREFIX}{_ANY_GROUP}.partitions": "1"})
    creation = [key for name, key in groups.keys.items() if name not in base.keys]
    return (
        "# Keys of every source connector\n\n"
        + _sections(base)
        + "\n## Topic creation groups\n\n"
        + "As soon as one key `topic.creation.*` is set, the group `default` is needed. `GROUP` stands for a name in "
        "`topic.creation.groups`. Any other key below the prefix is a topic setting, such as "
        "`topic.creation.default.cleanup.policy`.\n\n" + _table(creation)
    )


def _sink_page() -> str:
    return "# Keys of every sink connector\n\n" + _sections(sink_config())


def _own_page() -> str:
    intro = (
        "Keys that neither Kafka Connect nor the connectors of others know. The directory sink, the table sink and "
        "source, and `SQL` among transformations and predicates are entirely our own.\n\n"
    )
    return "# Our own keys\n\n" + intro + _owned(_is_own, lambda key: key.described)


def _is_own(key: ConfigKey) -> bool:
    return key.group == KCONNECT or key.name.startswith("kconnect.")


def _ignored_page() -> str:
    intro = (
        "Keys of Kafka Connect and of its connectors that are validated and then not used. A value other than the "
        "default gives a warning: in the job's log, in `kconnect validate` and in the report.\n\n"
    )
    return (
        "# Keys without effect\n\n"
        + intro
        + _owned(lambda key: bool(key.without_effect), lambda key: key.without_effect, "Why")
    )


def _owned(chosen: Callable[[ConfigKey], bool], text: Callable[[ConfigKey], str], what: str = "What it does") -> str:
    """A table of keys, each with whose it is; the same key of several owners is one row."""
    rows: dict[tuple[str, str, str], list[str]] = {}
    for owner, keys in _owners():
        for key in filter(chosen, keys):
            rows.setdefault((key.name, default_text(key), _cell(text(key))), []).append(owner)
    head = f"| Key | Of | Default | {what} |\n|---|---|---|---|\n"
    lines = (
        f"| `{name}` | {', '.join(dict.fromkeys(owners))} | {default} | {said} |\n"
        for (name, default, said), owners in sorted(rows.items())
    )
    return head + "".join(lines)


def _owners() -> Iterator[tuple[str, Iterable[ConfigKey]]]:
    """Links to the pages of keys, and these keys."""
    yield "[worker](worker.md)", worker_config_def().keys.values()
    yield "[sources](source.md)", source_config().keys.values()
    yield "[sinks](sink.md)", sink_config().keys.values()
    for group, name in _plugins():
        plugin = _load(group, name)
        if plugin.__module__.startswith("airflow_kconnect."):
            yield f"[{_title(group, _names(group, name)[0])}]({_path(group, name)})", plugin.config().keys.values()


_FIXED: dict[str, Callable[[], str]] = {
    "worker": _worker_page, "source": _source_page, "sink": _sink_page, "own": _own_page, "ignored": _ignored_page
}  # fmt: skip


def _names(group: str, full_name: str) -> list[str]:
    """All names of a plugin's class, the one that its page has first: Java's, if it has one."""
    plugin = _load(group, full_name)
    names = [name for name in plugins.registry().names(group) if _load(group, name) is plugin]
    return sorted(names, key=lambda name: (name.startswith("airflow_kconnect."), name))


def _path(group: str, full_name: str) -> str:
    """Where the page of a class is; `$` would have to be escaped in an address."""
    return f"{_KINDS[group]}s/{_names(group, full_name)[0].replace('$', '-')}.md"


def _short_names(group: str, names: list[str]) -> list[str]:
    """The names without package that mean the class of these names, the shorter ones last."""
    shorts = set()
    for short in {short for name in names for short in _simple(group, name)}:
        with suppress(ConfigError):
            if plugins.registry().resolve(group, short, key="NAME") in names:
                shorts.add(short)
    return sorted(shorts, key=lambda short: (-len(short), short))


def _simple(group: str, full_name: str) -> tuple[str, str]:
    """The name without package, and that without its last word."""
    simple = full_name.rpartition(".")[2]
    return simple, simple.removesuffix(_KINDS[group].capitalize())


def _plugin_page(group: str, full_name: str) -> str:
    plugin = _load(group, full_name)
    full_name, *others = names = _names(group, full_name)
    what = _KINDS[group]
    if group == plugins.CONNECTORS:
        kind = plugin.kind
        what = f"{kind} {what}"
        note = (
            f"Besides the keys below it has [those of every {kind} connector](../{kind}.md) "
            f"(`kconnect reference {kind}`)."
        )
    else:
        note = _NOTES[group]
    shorter = ", ".join(f"`{name}`" for name in [*others, *_short_names(group, names)])
    also = f" Other names: {shorter}." if shorter else ""
    introduction = f"`{full_name}`: a {what}.{also} {note}"
    return f"# {_title(group, full_name)}\n\n{introduction}\n\n" + _table(plugin.config().keys.values())


def _title(group: str, full_name: str) -> str:
    """A name that fits into a menu, and tells source from sink there, and classes of one name by their makers."""
    package, _, simple = full_name.rpartition(".")
    match = _SIDE.fullmatch(simple) if group == plugins.CONNECTORS else None
    maker = next((f" ({word})" for start, word in _WORDS.items() if package.startswith(start)), "")
    if group == plugins.PREDICATES:
        return f"{simple} (predicate)"
    if match is None:
        return simple if simple in _short_names(group, [full_name]) else f"{simple}{maker}"
    return f"{_WORDS.get(match[1], match[1])} {match[2].lower()}{maker}"


def _index(own: Iterable[tuple[str, str]]) -> str:
    fixed = ["- [Worker keys](worker.md)", "- [Every source connector](source.md)", "- [Every sink connector](sink.md)"]
    fixed += ["- [Our own keys](own.md), which Connect does not have", "- [Keys without effect](ignored.md)"]
    lines = ["# Reference of configuration keys", "", *fixed]
    heading = ""
    for group, name in own:
        if heading != _KINDS[group]:
            heading = _KINDS[group]
            lines += ["", f"## {heading.capitalize()}s", ""]
        lines.append(f"- [{name}]({_path(group, name)})")
    return "\n".join([*lines, ""])


def _resolve(name: str) -> tuple[str, str]:
    """Group and full name of the plugin that a name stands for."""
    for group in _KINDS:
        try:
            return group, plugins.registry().resolve(group, name, key="NAME")
        except ConfigError:
            continue
    raise ConfigError({"NAME": [f"there is no plugin {name}{_hint(name)}; `kconnect reference` lists all names"]})


def _hint(name: str) -> str:
    """The names that may have been meant; upper and lower case do not count."""
    shorts = {short.lower(): short for group, full in _plugins() for short in (*_simple(group, full), full)}
    matches = get_close_matches(name.lower(), [*_FIXED, *shorts], n=3, cutoff=0.75)
    return f" (did you mean {', '.join(f'`{shorts.get(text, text)}`' for text in matches)}?)" if matches else ""


def _plugins() -> Iterator[tuple[str, str]]:
    for group in _KINDS:
        yield from ((group, name) for name in plugins.registry().names(group))


def _load(group: str, full_name: str) -> type[Any]:
    registry = plugins.registry()
    finders: dict[str, Callable[[str], type[Any]]] = {
        plugins.CONNECTORS: registry.connector,
        plugins.CONVERTERS: registry.converter,
        plugins.TRANSFORMS: registry.transform,
        plugins.PREDICATES: registry.predicate,
    }
    return finders[group](full_name)


def _sections(definition: ConfigDef) -> str:
    """A table per group, in the order of the groups."""
    parts = []
    for group in definition.groups:
        keys = [key for key in definition.keys.values() if key.group == group]
        parts.append(f"## {group}\n\n{_table(keys)}")
    return "\n".join(parts)


def _table(keys: Iterable[ConfigKey]) -> str:
    rows = [_row(key) for key in keys]
    return _HEAD + "".join(rows) if rows else "No keys.\n"


def _row(key: ConfigKey) -> str:
    said = f"{key.described} {_choices_text(key)}".strip()
    cells = (f"`{key.name}`", key.type.value.lower(), default_text(key), key.importance.value.lower(), said)
    return "| " + " | ".join(_cell(cell) for cell in cells) + " |\n"


def _choices_text(key: ConfigKey) -> str:
    """The values that a key can have, unless its text names them all; a class by its full name alone."""
    choices = [each for each in key.choices if not any(other.endswith(f".{each}") for other in key.choices)]
    said = all(re.search(rf"\b{re.escape(each)}\b", key.documentation) for each in choices)
    if said or len(choices) == 1 or key.type is Type.BOOLEAN:
        return ""
    return f"{'Of' if key.type is Type.LIST else 'One of'} {', '.join(f'`{each}`' for each in choices)}."


def default_text(key: ConfigKey) -> str:
    """How a page writes a default: in backticks, or `required`, `not set`, `empty`."""
    if key.required:
        return "required"
    if key.default is None:
        return "not set"
    text = ",".join(map(java_text, key.default)) if isinstance(key.default, list) else java_text(key.default)
    return f"`{text}`" if text else "empty"


def _cell(text: str) -> str:
    """Text that stays in its cell, and in which no browser sees a tag."""
    outside, *inside = text.split("`")
    pieces = [_no_tags(outside)]
    for number, piece in enumerate(inside):
        pieces.append(piece if number % 2 == 0 else _no_tags(piece))
    return "`".join(pieces).replace("|", "\\|").replace("\n", " ")


def _no_tags(text: str) -> str:
    return text.replace("<", "&lt;").replace(">", "&gt;")
