"""Members of VARIANT objects, whatever their names are."""

from __future__ import annotations

import json

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.transforms.expressions.fields import is_object, member, or_null, with_member, without_members

NAMES = ["a", "", "a.b", "it's", 'say "x"', "both ' and \"", "[']", "\\'", "\n", "李雷"]


def test_members_with_any_name(spark: SparkSession) -> None:
    old = {name: n for n, name in enumerate(NAMES)} | {"more": None}
    value = F.parse_json(F.lit(json.dumps(old)))
    rest = without_members(value, NAMES)
    again = rest
    for name in NAMES:
        again = with_member(again, name, F.lit(name))
    one = [member(value, name).cast("int") for name in NAMES]
    row = spark.range(1).select(F.array(*one), F.to_json(rest), F.to_json(again)).collect()[0]
    assert row[0] == list(old.values())[:-1]
    assert json.loads(row[1]) == {"more": None}
    assert json.loads(row[2]) == {name: name for name in NAMES} | {"more": None}


def test_what_is_not_an_object_has_no_members(spark: SparkSession) -> None:
    texts = ['{"a": null}', "{}", '[{"a": 1}]', '"a"', "1.5", "null", None]
    rows = spark.createDataFrame([(text,) for text in texts], "text string")
    value = F.try_parse_json("text")
    found = member(value, "a")
    columns = [is_object(value), found.isNull(), or_null(found).isNull(), with_member(value, "b", F.lit(1)).isNull()]
    answers = [tuple(row) for row in rows.select(*columns).collect()]
    assert answers == [(True, False, True, False), (True, True, True, False)] + [(False, True, True, True)] * 5
