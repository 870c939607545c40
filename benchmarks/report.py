"""``python -m benchmarks.report``: tables and charts of the results, put into the pages that quote them.

A page has a pair of comments for each table that it quotes: ``<!-- figures: files -->`` and ``<!-- /figures -->``.
What is between them is replaced.
"""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import typer

from benchmarks import charts, results
from benchmarks.measure import CONNECT, OURS, Row, number

app = typer.Typer(add_completion=False)

_ROOT = Path(__file__).parents[1]
_PAGES = (_ROOT / "README.md", _ROOT / "docs" / "benchmarks.md", _ROOT / "docs" / "guides" / "sizing.md")
_IMAGES = _ROOT / "docs" / "images"
_BLOCK = re.compile(r"(<!-- figures: (?P<name>[\w-]+) -->\n).*?(<!-- /figures -->)", re.S)


@app.command()
def main() -> None:
    """Render the results in build/benchmarks as tables and charts, and put them into README and docs/benchmarks.md."""
    found = {path.stem: results.read(path) for path in sorted(results.FOLDER.glob("*.json"))}
    if not found:
        raise SystemExit(f"No results in {results.FOLDER}: run `make bench` first.")
    blocks = sections(found)
    for name, text in blocks.items():
        (results.FOLDER / f"{name}.md").write_text(text)
    for name, each in found.items():
        if each["rows"]:
            (_IMAGES / _image(name)).write_text(charts.bars(each["rows"]))
    if "samples" in found.get("group_memory", {}):
        (_IMAGES / _image("group-memory")).write_text(memory_chart(found["group_memory"]))
    for page in _PAGES:
        text = page.read_text()
        page.write_text(filled(text, blocks))
        quoted = [match["name"] for match in _BLOCK.finditer(text)]
        missing = sorted(set(quoted) - set(blocks))
        print(f"{page}: {len(quoted) - len(missing)} tables" + (f"; no results for {missing}" if missing else ""))


def sections(found: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """All that a page can quote, by name."""
    blocks = {
        name: f"![records per second](images/{_image(name)})\n\n{table(each['rows'])}"
        for name, each in found.items()
        if each["rows"]
    }
    blocks["machine"] = _machine(found.values())
    if "startup" in found:
        blocks["startup"] = startup_table(found["startup"])
    if "spent" in found.get("groups", {}):
        blocks["groups"] = groups_table(found["groups"])
    if "costs" in found.get("scale", {}):
        blocks["scale"] = scale_table(found["scale"])
    if "loads" in found.get("hosted", {}):
        blocks["hosted"] = hosted_table(found["hosted"])
    if {"files", "databases"} <= set(found):
        blocks["summary"] = summary([*found["files"]["rows"], *found["databases"]["rows"]])
    return blocks


def _image(name: str) -> str:
    return f"benchmark-{name}.svg"


def filled(text: str, blocks: Mapping[str, str]) -> str:
    """A page with its tables replaced; those without results stay as they are."""

    def block(match: re.Match[str]) -> str:
        name = match["name"]
        return f"{match[1]}{blocks[name]}{match[3]}" if name in blocks else match[0]

    return _BLOCK.sub(block, text)


def table(rows: Iterable[Row]) -> str:
    """A Markdown table for each path."""
    parts = []
    for path, found in groupby(rows, key=lambda row: row.path):
        panel = list(found)
        lines = [_line(row, panel) for row in panel]
        parts.append(_markdown(f"{path}", _COLUMNS, lines))
    return "\n".join(parts)


_COLUMNS = (
    "records/s, median",
    "of the whole run",
    "CPU µs per record",
    "and of the servers",
    "ratio (lowest and highest round)",
)


def _line(row: Row, panel: list[Row]) -> list[str]:
    whole = number(row.whole_run) if row.whole_run else ""
    cpu = [f"{row.cpu_us:.1f}", f"{row.servers_cpu_us:.1f}"]
    return [row.name, number(row.median), whole, *cpu, _ratio(row, panel)]


def _ratio(row: Row, panel: list[Row]) -> str:
    """Against a tuned Connect with as many tasks."""
    other = reference(panel, row.parallel)
    if row is other:
        return "1"
    middle, lowest, highest = row.ratios(other)
    return f"{middle:.2f} ({lowest:.2f} to {highest:.2f})"


def reference(panel: Iterable[Row], parallel: int) -> Row:
    """The tuned Connect with so many tasks."""
    return next(
        row for row in panel if row.side == CONNECT and row.setup.startswith("tuned") and row.parallel == parallel
    )


def summary(rows: list[Row]) -> str:
    """Both sides at their best: ours with all cores, next to the faster of a tuned Connect with one and two tasks."""
    lines = []
    for path, found in groupby(rows, key=lambda row: row.path):
        panel = list(found)
        ours = max((row for row in panel if row.side == OURS), key=lambda row: row.parallel)
        other = max((reference(panel, tasks) for tasks in (1, ours.parallel)), key=lambda row: row.median)
        lines.append([path, number(other.median), number(ours.median), f"{ours.ratios(other)[0]:.1f}"])
    return _markdown("records/s, median", ("Kafka Connect, tuned", "`airflow_kconnect`", "ratio"), lines)


def startup_table(found: Mapping[str, Any]) -> str:
    """Cold starts in seconds, in the median and the best."""
    lines = [
        [name, f"{statistics.median(seconds):.1f}", f"{min(seconds):.1f}"] for name, seconds in found["seconds"].items()
    ]
    return _markdown("from the start of the process", ("seconds, median", "best"), lines)


def groups_table(found: Mapping[str, Any]) -> str:
    """Groups next to single runs and a Connect worker: seconds and CPU seconds."""
    lines = []
    for what, spent in found["spent"].items():
        seconds, cpu = zip(*spent, strict=True)
        lines.append(
            [what, *(_digits(each) for each in (statistics.median(seconds), min(seconds), statistics.median(cpu)))]
        )
    return _markdown("from the start of the process", ("seconds, median", "best", "CPU seconds, median"), lines)


def memory_chart(found: Mapping[str, Any]) -> str:
    """What runs in one application leave over."""
    names = {"driver MB": "driver", "workers MB": "Python workers", "JVM heap MB after a collection": "JVM's heap"}
    series = {
        name: [(sample["runs"], sample[key]) for sample in found["samples"]]
        for key, name in names.items()
        if key in found["samples"][0]
    }
    return charts.lines("MB after runs in one Spark application", "runs", series)


def scale_table(found: Mapping[str, Any]) -> str:
    """What single runs have taken where something is large."""
    lines = [
        [cost["case"], f"{cost['records']:,}", _digits(cost["seconds"]), _digits(cost["cpu_s"]), f"{cost['peak_mb']:,}"]
        for costs in found["costs"].values()
        for cost in costs
    ]
    return _markdown("run", ("records", "seconds", "CPU seconds", "MB of all processes, at most"), lines)


_HOSTED = (
    ("records/s, from the first to the last", "rate", max),
    ("CPU seconds of the JVM in that time", "cpu_s", min),
    ("seconds from the start of the process to the first record", "first_s", min),
)


def hosted_table(found: Mapping[str, Any]) -> str:
    """Hosted runs next to a Connect worker: medians, bests, and ratios of the rounds."""
    lines = []
    for load, sides in found["loads"].items():
        for what, name, best in _HOSTED:
            mine, its = ([float(each[name]) for each in sides[side]] for side in ("hosted", "worker"))
            ratios = [own / other for own, other in zip(mine, its, strict=True)]
            cells = [text for each in (mine, its) for text in (_digits(statistics.median(each)), _digits(best(each)))]
            ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            lines.append([f"{load}: {what}", *cells, ratio])
    columns = ("hosted, median", "best", "worker, median", "best", "hosted to worker (lowest and highest round)")
    return _markdown("Java connector", columns, lines)


def _digits(value: float) -> str:
    return number(value) if value >= 100 else f"{value:.1f}"


def _machine(found: Iterable[Mapping[str, Any]]) -> str:
    facts: dict[str, str] = {}
    for each in found:
        facts |= each["machine"] | {key: value for key, value in each["facts"].items() if key in _VERSIONS}
    return _markdown("machine", ("",), [[key, value] for key, value in facts.items()])


_VERSIONS = ("PostgreSQL", "Debezium", "Apicurio's converter")


def _markdown(first: str, columns: Iterable[str], lines: Iterable[list[str]]) -> str:
    head = [first, *columns]
    rule = ["---", *["---:"] * (len(head) - 1)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (head, rule, *lines))


if __name__ == "__main__":
    app()
