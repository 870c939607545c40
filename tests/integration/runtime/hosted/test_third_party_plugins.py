"""Third parties' converter and transformation around the file connectors, each plug-in in a folder of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.kafka import read_values

CONVERTER = "io.apicurio:apicurio-registry-utils-converter:2.6.13.Final"
TRANSFORMATIONS = "io.debezium:debezium-connector-postgres:3.5.0.Final"

pytestmark = pytest.mark.exhaustive


def test_a_converter_and_a_transformation_of_other_plug_ins_take_part_in_both_directions(
    bootstrap: str,
    registry_url: str,
    numbered: Any,
    java_source: Callable[..., dict[str, str]],
    java_sink: Callable[..., dict[str, str]],
    run_hosted: Callable[..., Any],
    tmp_path: Path,
) -> None:
    numbered.append(100)
    avro = {
        "value.converter": "io.apicurio.registry.utils.converter.AvroConverter",
        "value.converter.apicurio.registry.url": f"{registry_url.partition('/apis/')[0]}/apis/registry/v2",
        "value.converter.apicurio.registry.auto-register": "true",
    }
    transformations = {
        "transforms": "mark,hoist,move",
        "transforms.mark.type": "org.apache.kafka.connect.transforms.InsertHeader",
        "transforms.mark.header": "origin",
        "transforms.mark.value.literal": "shop",
        "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
        "transforms.hoist.field": "line",
        "transforms.move.type": "io.debezium.transforms.HeaderToValue",
        "transforms.move.headers": "origin",
        "transforms.move.fields": "origin",
        "transforms.move.operation": "move",
    }
    worker = {"kconnect.plugin.coordinates": f"{CONVERTER},{TRANSFORMATIONS}"}
    source = {**java_source(), **avro, **transformations}
    assert run_hosted(source, **worker).records["written"] == 100
    values = read_values(bootstrap, source["topic"])
    # Avro: the length of the text, doubled, and the text.
    assert all(value is not None and b"\x08shop" in value for value in values)
    assert run_hosted({**java_sink(source["topic"]), **avro}, **worker).complete
    expected = [f"Struct{{line=line-{n},origin=shop}}" for n in range(100)]
    assert (tmp_path / "out.txt").read_text().splitlines() == expected
