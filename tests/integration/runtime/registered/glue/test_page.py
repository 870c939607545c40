"""What docs/guides/glue.md says to type, with each of the converters that it names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.runtime.conftest import Run
from tests.integration.runtime.registered.glue.conftest import PACKAGE, Shop
from tests.integration.runtime.test_directory_pipeline import lines
from tests.support import unique
from tests.support.glue import Glue
from tests.support.pages.markdown import REPOSITORY, blocks

PAGE = REPOSITORY / "docs/guides/glue.md"
CONVERTERS = (
    "AWSKafkaAvroConverter",
    *(
        pytest.param(name, marks=pytest.mark.exhaustive)
        for name in ("jsonschema.JsonSchemaConverter", "protobuf.ProtobufSchemaConverter")
    ),
)


@pytest.fixture(scope="module")
def registry(aws: Glue) -> str:
    """The registry of the page."""
    name = "shop"
    aws.client.create_registry(RegistryName=name)
    return name


@pytest.mark.parametrize("name", CONVERTERS)
def test_what_the_page_says_to_type_runs(
    aws: Glue, registry: str, shop: Shop, tmp_path: Path, run_here: Run, name: str
) -> None:
    converter = f"{PACKAGE}.{name}"
    assert f"`{converter}`" in PAGE.read_text(encoding="utf-8")
    source, files = (json.loads(block.text)["config"] for block in blocks(PAGE) if block.info == "json")
    assert source["value.converter.registry.name"] == registry
    here = {"value.converter": converter, "value.converter.endpoint": aws.url}
    prefix = {"topic.prefix": shop.prefix}

    run_here({**source, **here, **prefix, "name": unique("c"), "connection.url": shop.source()["connection.url"]})
    out = {"topics": f"{shop.prefix}orders", "directory": str(tmp_path / "out"), "format": "json"}
    config = {**files, **here, **out, "name": unique("c")}
    run_here(config)

    assert [line["item"] for line in lines(config)] == ["chair", "table", None]
