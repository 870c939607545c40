"""Third parties' converter and transformation around the file connectors, each plug-in in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support import unique
from tests.support.connect.tried import example
from tests.support.kafka import read_values

CONVERTER = "io.apicurio:apicurio-registry-utils-converter:2.6.13.Final"
TRANSFORMATIONS = "io.debezium:debezium-connector-postgres:3.5.0.Final"

pytestmark = pytest.mark.exhaustive


def test_a_converter_and_a_transformation_of_other_plug_ins_take_part_in_both_directions(
    bootstrap: str,
    registry_url: str,
    numbered: Any,
    run_hosted: Callable[..., Any],
    tmp_path: Path,
) -> None:
    numbered.append(100)
    registry = {"value.converter.apicurio.registry.url": f"{registry_url.partition('/apis/')[0]}/apis/registry/v2"}
    worker = {"kconnect.plugin.coordinates": f"{CONVERTER},{TRANSFORMATIONS}"}
    places = {**registry, "file": str(tmp_path / "in.txt"), "topic": unique("lines")}
    source = example("lines-to-avro", places, kconnect_hosted_idle_ms="1000")
    assert run_hosted(source, **worker).records["written"] == 100
    values = read_values(bootstrap, source["topic"])
    # Avro: the length of the text, doubled, and the text.
    assert all(value is not None and b"\x08shop" in value for value in values)
    sink = example("avro-to-lines", {**registry, "file": str(tmp_path / "out.txt"), "topics": source["topic"]})
    assert run_hosted(sink, **worker).complete
    expected = [f"Struct{{line=line-{n},origin=shop}}" for n in range(100)]
    assert (tmp_path / "out.txt").read_text().splitlines() == expected
