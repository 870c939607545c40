"""SQL: a Spark SQL condition over the record; Kafka Connect has no such predicate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import NO_DEFAULT, ConfigDef, Importance, Type
from airflow_kconnect.connect.config.validators import invalid
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import EVERYTHING, Predicate, Rows, Scope
from airflow_kconnect.transforms.sql.catalyst import Catalyst, SQLError, Tree
from airflow_kconnect.transforms.sql.results import parsed
from airflow_kconnect.transforms.sql.scope import Case, cases
from airflow_kconnect.transforms.sql.text import single_validator, words

if TYPE_CHECKING:
    from pyspark.sql import Column

_KEY = "condition"


class SQL(Predicate):
    """``airflow_kconnect.transforms.predicates.SQL``; false where the condition is null or not applicable."""

    @classmethod
    def config(cls) -> ConfigDef:
        text = "Condition over key, value, topic, partition, offset, timestamp and headers."
        return ConfigDef().define(_KEY, Type.STRING, NO_DEFAULT, Importance.HIGH, text, validator=single_validator())

    @property
    def needs(self) -> frozenset[str]:
        return EVERYTHING & words(self._condition)

    def __str__(self) -> str:
        return self._condition

    @property
    def _condition(self) -> str:
        return str(self.config_values[_KEY])

    def test(self, frame: RecordFrame, scope: Scope) -> Column:
        from pyspark.sql import functions as F

        catalyst = Catalyst(frame.df.sparkSession)
        expression = parsed(catalyst, {_KEY: self._condition})[_KEY]
        condition: Column | None = None
        for case in cases(Rows(frame, scope), expression.names):
            holds = self._test(catalyst, expression.items[0].tree, frame, case)
            if holds is not None:
                condition = F.when(case.holds, holds) if condition is None else condition.when(case.holds, holds)
        return F.lit(False) if condition is None else condition.otherwise(False)

    def _test(self, catalyst: Catalyst, tree: Tree, frame: RecordFrame, case: Case) -> Column | None:
        """The condition in the rows of a case, null where it fails; None if it cannot be true there.

        :raises ConfigError: it is not a condition.
        """
        from pyspark.errors import AnalysisException
        from pyspark.sql import functions as F
        from pyspark.sql.types import BooleanType, NullType

        try:
            column = catalyst.bind(tree, case)
            data_type = catalyst.analysed(frame.df, column).dataType
        except (AnalysisException, DataError):
            return None
        except SQLError as error:
            raise invalid(_KEY, self._condition, str(error)) from error
        if not isinstance(data_type, BooleanType | NullType):
            text = f"expected a condition, found {data_type.simpleString().upper()}"
            raise invalid(_KEY, self._condition, text)
        return catalyst.tried(F.coalesce(column, F.lit(False)))["v"]
