"""JSON texts of data without a schema as Spark's VARIANT: what Spark refuses is a bad row and fails no job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connect.error_cells import stage_prefix

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CELL = stage_prefix("VALUE_CONVERTER", "org.apache.spark.sql.catalyst.expressions.variant.ParseJson") + (
    "data without a schema are JSON that Spark does not take as VARIANT: it nests too deeply, or is too large"
)


def with_variants(rows: DataFrame, texts: Sequence[str]) -> DataFrame:
    """Rows whose columns of JSON texts are VARIANT. Connectors have checked what can be wrong with the texts; this is
    for what only Spark finds.

    :param texts: the columns. Errors go to the column ``error``, if there is one; if not, they fail the job.
    """
    from pyspark.sql import functions as F

    if "error" not in rows.columns:
        return rows.withColumns({name: F.parse_json(F.col(name)) for name in texts}) if texts else rows
    variants = {name: F.try_parse_json(F.col(name)) for name in texts}
    error = F.col("error")
    for name, variant in variants.items():
        error = F.when(variant.isNull() & F.col(name).isNotNull(), F.lit(_CELL)).otherwise(error)
    return rows.withColumns({**variants, "error": error})
