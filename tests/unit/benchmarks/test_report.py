"""Tables and charts of benchmark results, and the pages that quote them."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks.charts import bars
from benchmarks.measure import CONNECT, LIMIT, OURS, Pass, Row, number
from benchmarks.report import filled, hosted_table, sections, startup_table, summary, table

PAGE = Path(__file__).parents[3] / "docs" / "benchmarks.md"


def row(path: str, side: str, setup: str, parallel: int, *rates: int) -> Row:
    return Row(path, side, setup, parallel, 200.0, [Pass(rate, 1.0, 0.5, 0.25) for rate in rates])


def rows(path: str = "File to Kafka") -> list[Row]:
    return [
        row(path, CONNECT, "as it comes", 1, 50_000, 60_000),
        row(path, CONNECT, "tuned", 1, 100_000, 100_000),
        row(path, CONNECT, "tuned, two tasks", 2, 150_000, 150_000),
        row(path, OURS, "local[1]", 1, 200_000, 300_000),
        row(path, OURS, "local[2]", 2, 300_000, 450_000),
        row(path, LIMIT, "plain producers", 2, 600_000, 600_000),
    ]


@pytest.mark.parametrize(
    ("name", "ratio"),
    [
        ("Kafka Connect, as it comes", "0.55 (0.50 to 0.60)"),
        ("Kafka Connect, tuned, two tasks", "1"),
        ("airflow_kconnect, local[1]", "2.50 (2.00 to 3.00)"),
        ("airflow_kconnect, local[2]", "2.50 (2.00 to 3.00)"),
    ],
)
def test_ratios_compare_with_a_tuned_connect_of_as_many_tasks(name: str, ratio: str) -> None:
    (line,) = (line for line in table(rows()).splitlines() if line.startswith(f"| {name} |"))
    assert line.endswith(f"| {ratio} |")


def test_hosted_runs_are_compared_round_by_round() -> None:
    passes = [{"first_s": 4.0, "rate": 1000.0, "cpu_s": 2.0}, {"first_s": 6.0, "rate": 3000.0, "cpu_s": 4.0}]
    faster = [{name: 2 * value for name, value in each.items()} for each in passes]
    lines = hosted_table({"loads": {"Debezium": {"hosted": faster, "worker": passes}}}).splitlines()[2:]
    assert [line.split(" | ")[1:] for line in lines] == [
        ["4 000", "6 000", "2 000", "3 000", "2.00 (2.00 to 2.00) |"],
        ["6.0", "4.0", "3.0", "2.0", "2.00 (2.00 to 2.00) |"],
        ["10.0", "8.0", "5.0", "4.0", "2.00 (2.00 to 2.00) |"],
    ]


def test_the_summary_compares_both_sides_with_all_cores() -> None:
    assert summary(rows()).splitlines()[-1] == "| File to Kafka | 150 000 | 375 000 | 2.5 |"


def test_the_summary_takes_the_faster_connect() -> None:
    measured = [
        *rows(),
        row("Kafka to files", CONNECT, "tuned", 1, 100),
        row("Kafka to files", CONNECT, "tuned", 2, 50),
    ]
    measured.append(row("Kafka to files", OURS, "local[2]", 2, 200))
    assert summary(measured).splitlines()[-1] == "| Kafka to files | 100 | 200 | 2.0 |"


def test_the_start_up_table_has_median_and_best() -> None:
    text = startup_table({"seconds": {"exit": [9.0, 7.0, 8.0]}})
    assert text.splitlines()[-1] == "| exit | 8.0 | 7.0 |"


def test_numbers_have_three_digits() -> None:
    assert number(265_432) == "265 000"


def results(measured: list[Row]) -> dict[str, object]:
    return {"machine": {"cores": "2"}, "facts": {"PostgreSQL": "17"}, "rows": measured}


def test_the_summary_takes_both_results() -> None:
    blocks = sections({"files": results(rows()), "databases": results(rows("PostgreSQL to Kafka"))})
    assert [line.split(" |")[0] for line in blocks["summary"].splitlines()[2:]] == [
        "| File to Kafka",
        "| PostgreSQL to Kafka",
    ]


def test_only_what_is_between_the_marks_is_replaced() -> None:
    page = "before\n<!-- figures: files -->\nold\n<!-- /figures -->\nafter\n"
    assert filled(page, {"files": "new\n"}) == page.replace("old", "new")


def test_a_table_without_results_stays() -> None:
    page = "<!-- figures: files -->\nold\n<!-- /figures -->\n"
    assert filled(page, {}) == page


def test_the_page_quotes_every_table() -> None:
    quoted = set(re.findall(r"<!-- figures: ([\w-]+) -->", PAGE.read_text()))
    assert quoted == {"machine", "summary", "files", "databases", "avro", "transforms", "startup", "hosted"}


def test_a_chart_has_a_bar_for_each_contender() -> None:
    measured = [*rows(), *rows("Kafka to files")]
    image = ElementTree.fromstring(bars(measured))
    assert len(image.findall("{*}rect[@x]")) == len(measured)


def test_no_bar_reaches_beyond_the_picture() -> None:
    image = ElementTree.fromstring(bars(rows()))
    ends = [float(bar.attrib["x"]) + float(bar.attrib["width"]) for bar in image.findall("{*}rect[@x]")]
    assert max(ends) < float(image.attrib["width"])


def test_a_limit_far_beyond_is_cut() -> None:
    far = row("File to Kafka", LIMIT, "plain producers", 2, 9_000_000)
    image = ElementTree.fromstring(bars([*rows()[:-1], far]))
    assert any(text.text == "9 000 000 (bar is cut)" for text in image.findall("{*}text"))
