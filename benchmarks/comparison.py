"""``python -m benchmarks.comparison FOLDER``: what a record costs here, against another checkout of this repository.

CPU time says something on a busy machine too, if both sides take turns. Each checkout runs its own code and its own
benchmark, with the packages of one environment.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from benchmarks import results

HERE = Path(__file__).parents[1]
LIMIT = 1.15
"""What costs this many times as much in the median, and more in each round, is slower."""
_KINDS = {"": [], ", transformed": ["--transforms"]}
Costs = Mapping[str, float]
"""CPU microseconds per record, by path and setting."""


class Change(NamedTuple):
    """What has become of a path: CPU microseconds per record of both sides, and their ratios.

    :param lowest: of a round. :param highest: of a round.
    """

    name: str
    before: float
    after: float
    lowest: float
    highest: float

    @property
    def ratio(self) -> float:
        """Of the medians."""
        return self.after / self.before

    @property
    def slower(self) -> bool:
        """Whether it is more than chance."""
        return self.ratio > LIMIT and self.lowest > 1


def changes(before: Sequence[Costs], after: Sequence[Costs]) -> list[Change]:
    """Both sides' rounds compared, path by path; those that only one side has are left out."""
    found = []
    for name in before[0].keys() & after[0].keys():
        old, new = ([each[name] for each in rounds] for rounds in (before, after))
        ratios = [late / early for early, late in zip(old, new, strict=True)]
        found.append(Change(name, statistics.median(old), statistics.median(new), min(ratios), max(ratios)))
    return sorted(found)


def table(found: Sequence[Change]) -> str:
    """As Markdown."""
    lines = [
        "| CPU µs per record | before | after | ratio (lowest and highest round) | |",
        "| --- | ---: | ---: | ---: | --- |",
    ]
    for each in found:
        ratio = f"{each.ratio:.2f} ({each.lowest:.2f} to {each.highest:.2f})"
        lines.append(f"| {each.name} | {each.before:.2f} | {each.after:.2f} | {ratio} | {'slower' * each.slower} |")
    return "\n".join([*lines, ""])


def main(
    folder: Annotated[Path, typer.Argument(help="The other checkout, with which this one is compared.")],
    rounds: Annotated[int, typer.Option(help="How often both sides take turns.", min=1)] = 3,
    lines: Annotated[int, typer.Option(help="Lines of 200 bytes to move.", min=1)] = 500_000,
    passes: Annotated[int, typer.Option(help="Passes in each round, after one that does not count.", min=1)] = 3,
) -> None:
    """Print CPU microseconds per record of both; the exit code is 1 if this one is slower."""
    if not (folder / "benchmarks" / "comparison.py").is_file():
        raise SystemExit(f"{folder} is not a checkout of this repository that can be compared")
    options = ["--no-connect", "--lines", str(lines), "--passes", str(passes)]
    before: list[dict[str, float]] = []
    after: list[dict[str, float]] = []
    for number in range(rounds):
        sides = [(folder.resolve(), before), (HERE, after)]
        for checkout, costs in sides[:: -1 if number % 2 else 1]:
            print(f"Round {number + 1} of {rounds}: {checkout}", flush=True)
            costs.append(dict(_costs(checkout, options)))
    found = changes(before, after)
    results.FOLDER.mkdir(parents=True, exist_ok=True)
    (results.FOLDER / "comparison.md").write_text(table(found))
    print(table(found))
    raise SystemExit(int(any(each.slower for each in found)))


def _costs(checkout: Path, options: Sequence[str]) -> Iterator[tuple[str, float]]:
    output = results.FOLDER / "comparison.json"
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    for kind, own in _KINDS.items():
        command = [sys.executable, "-m", "benchmarks", *options, *own, "--output", str(output)]
        subprocess.run(command, cwd=checkout, env=environment, check=True)
        for row in results.read(output)["rows"]:
            yield f"{row.path}{kind}, {row.setup}", row.cpu_us


if __name__ == "__main__":
    typer.run(main)
