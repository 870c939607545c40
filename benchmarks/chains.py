"""``python -m benchmarks.chains``: what a chain of ten transformations costs, by that of one; Spark alone, no Kafka.

The ten leave records of the size that the one makes: what they themselves cost is looked for, not longer JSON.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from airflow_kconnect.connect.data import STRING_SCHEMA, Shape, struct
from airflow_kconnect.connect.frame import RecordFrame, single
from airflow_kconnect.converters.base import new_converter
from airflow_kconnect.runtime.conversion.encoding import encoded
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.chain import Chain
from benchmarks.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_ROWS = 2_000_000
_PASSES = 5
_CHAIN = {
    "source": {"type": "InsertField$Value", "static.field": "source", "static.value": "shop"},
    "rename": {"type": "ReplaceField$Value", "renames": "name:title"},
    "mask": {"type": "MaskField$Value", "fields": "text", "replacement": "****"},
    "cast": {"type": "Cast$Value", "spec": "id:string"},
    "drop": {"type": "ReplaceField$Value", "exclude": "source"},
    "schema": {"type": "SetSchemaMetadata$Value", "schema.name": "shop.Article"},
    "shop": {"type": "InsertField$Value", "static.field": "shop", "static.value": "main"},
    "route": {"type": "RegexRouter", "regex": "(.*)", "replacement": "articles-$1"},
    "hoist": {"type": "HoistField$Value", "field": "article"},
    "extract": {"type": "ExtractField$Value", "field": "article"},
}
_JSON = "org.apache.kafka.connect.json.JsonConverter"


def main() -> None:
    """Print rows per second for both, and the ratio of the costs."""
    console = Console()
    with tempfile.TemporaryDirectory() as folder:
        spark = spark_session(Path(folder))
        frame = articles(spark, _ROWS)
        chains = {count: dict(list(_CHAIN.items())[:count]) for count in (1, 10)}
        seconds = {count: min(seconds_of(frame, chain) for _ in range(_PASSES)) for count, chain in chains.items()}
        spark.stop()
    for count, spent in seconds.items():
        console.print(f"{count} transformations: {_ROWS / spent:,.0f} records/s")
    console.print(f"ten cost {seconds[10] / seconds[1]:.2f} times what one costs")


def articles(spark: SparkSession, rows: int) -> RecordFrame:
    """Records of three short texts, in two Spark partitions."""
    from pyspark.sql import functions as F

    names = ("id", "name", "text")
    value = F.struct(*(F.concat(F.lit(f"{name} "), F.col("id").cast("string")).alias(name) for name in names))
    df = spark.range(0, rows, 1, 2).select(value.alias("value"), F.lit(None).cast("string").alias("error"))
    shape = Shape(struct(*((name, STRING_SCHEMA) for name in names)))
    return RecordFrame(df, single(shape, "value"), constant_topic="t", carried=("error",))


def seconds_of(frame: RecordFrame, links: Mapping[str, Mapping[str, str]]) -> float:
    """How long a job takes to transform and encode the records. :param links: alias -> keys of transformations."""
    props = {"transforms": ",".join(links)}
    for alias, own in links.items():
        props |= {f"transforms.{alias}.{key}": value for key, value in own.items()}
    converter = new_converter(_JSON, {"value.converter.schemas.enable": "false"}, {})
    began = time.monotonic()
    changed = Chain.from_props(props).apply(frame, Scope(is_sink=False, header_converter=converter))
    encoded(changed, converter, converter).write.format("noop").mode("overwrite").save()
    return time.monotonic() - began


if __name__ == "__main__":
    main()
