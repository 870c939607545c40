"""`python -m tests.fuzz`: how many random records are answered as by Kafka Connect, and what differs."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.fuzz.comparison import Difference, compared, other_bytes, ours
from tests.fuzz.configurations import Case, a_case
from tests.fuzz.listed import family_of
from tests.fuzz.reference import KafkaConnect
from tests.fuzz.shrinking import smallest


def main() -> int:
    """Exit code 1 if something differs that is not listed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", default="1", help="of all configurations and records")
    parser.add_argument("--configurations", type=int, default=100)
    parser.add_argument("--records", type=int, default=100, help="per configuration")
    parser.add_argument("--first", type=int, default=0, help="number of the first configuration")
    parser.add_argument(
        "--odd", action="store_true", help="with numbers, defaults and headers as people rarely write them"
    )
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--show", type=int, default=10, help="how many kinds of differences to shrink and print")
    parser.add_argument("--replay", type=Path, help="a file with one case as it was printed; nothing random then")
    arguments = parser.parse_args()
    with KafkaConnect() as kafka:
        if arguments.replay:
            return _replay(kafka, json.loads(arguments.replay.read_text()))
        return _run(kafka, arguments)


def _replay(kafka: KafkaConnect, request: dict[str, Any]) -> int:
    theirs, mine = (answer(request["config"], request["records"]) for answer in (kafka.answers, ours))
    print(f"Kafka: {json.dumps(theirs)}\nours:  {json.dumps(mine)}")
    return int(bool(compared(Case("", **request), theirs, mine)))


def _run(kafka: KafkaConnect, arguments: argparse.Namespace) -> int:
    logging.disable()  # Spark's own account of each record that ends a preview
    start, counts, families = time.monotonic(), Counter[str](), Counter[str]()
    unlisted: dict[str, list[Difference]] = {}
    for number in range(arguments.first, arguments.first + arguments.configurations):
        if time.monotonic() - start > arguments.seconds:
            break
        case = a_case(f"{arguments.seed}/{number}", arguments.records, odd=arguments.odd)
        answers = kafka.answers(case.config, case.records), ours(case.config, case.records)
        refused = isinstance(answers[0], dict)
        counts |= {"configurations": counts["configurations"] + 1}
        counts["refused" if refused else "records"] += 1 if refused else len(case.records)
        counts["other bytes"] += other_bytes(case.config, answers)
        for found in compared(case, *answers):
            family = family_of(found)
            if family is None:
                unlisted.setdefault(_kind(found), []).append(found)
            else:
                families[family] += 1
    _report(kafka, arguments, counts, families, unlisted, time.monotonic() - start)
    return int(bool(unlisted))


def _kind(found: Difference) -> str:
    return f"{found.what} ({', '.join(sorted({kind.partition('$')[0] for kind in found.types})) or 'converters'})"


def _report(
    kafka: KafkaConnect,
    arguments: argparse.Namespace,
    counts: Counter[str],
    families: Counter[str],
    unlisted: dict[str, list[Difference]],
    seconds: float,
) -> None:
    # The simplest are the most telling.
    kinds = sorted(unlisted, key=lambda kind: min(len(found.text()) for found in unlisted[kind]))
    for kind in kinds[: arguments.show]:
        found = min(unlisted[kind], key=lambda found: len(found.text()))
        print(f"\n{len(unlisted[kind])} x {kind}, for example (shrunk): {smallest(found, kafka).text()}", flush=True)
    print(f"\nseed {arguments.seed}, {seconds:.0f} s:", ", ".join(f"{n} {what}" for what, n in counts.items()))
    for family, number in families.most_common():
        print(f"  listed: {number} x {family}")
    print(f"  not listed: {sum(map(len, unlisted.values()))} in {len(unlisted)} kinds")


if __name__ == "__main__":
    sys.exit(main())
