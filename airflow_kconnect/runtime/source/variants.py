"""JSON texts of data without a schema as Spark's VARIANT: what Spark refuses is a bad row and fails no job."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connect.error_cells import stage_prefix

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_EXECUTING = "org.apache.spark.sql.catalyst.expressions.variant.ParseJson"
_TEXT = "data without a schema are JSON that Spark does not take as VARIANT: it nests too deeply, or is too large"


def with_variants(rows: DataFrame, keys: Sequence[str], values: Sequence[str]) -> DataFrame:
    """Rows whose columns of JSON texts are VARIANT. Connectors have checked what can be wrong with the texts; this is
    for what only Spark finds.

    :param keys: the columns of keys, :param values: and of values. Errors go to the column ``error``, if there is one,
        where it has none yet; if there is no such column, they fail the job.
    """
    from pyspark.sql import functions as F

    parts = {**dict.fromkeys(keys, "KEY"), **dict.fromkeys(values, "VALUE")}
    if not parts or "error" not in rows.columns:
        return rows.withColumns({name: F.parse_json(F.col(name)) for name in parts}) if parts else rows
    variants = {name: F.try_parse_json(F.col(name)) for name in parts}
    refused = (
        F.when(variants[name].isNull() & F.col(name).isNotNull(), stage_prefix(f"{part}_CONVERTER", _EXECUTING) + _TEXT)
        for name, part in parts.items()
    )
    return rows.withColumns({**variants, "error": F.coalesce(F.col("error"), *refused)})
