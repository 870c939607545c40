"""Functions over Arrow columns in Spark's Python workers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from airflow_kconnect.connect.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column

WHO = "converters with a schema registry need"


def arrow_function(run: Callable[..., pa.Array], result: object, who: str = WHO) -> Callable[..., Column]:
    """An Arrow function over whole columns.

    :param who: needs it, for the error. :raises ConfigError: this PySpark has none.
    """
    from pyspark import __version__
    from pyspark.sql import functions as F

    if not hasattr(F, "arrow_udf"):
        raise ConfigError({"value.converter": [f"{who} PySpark 4.1 or newer; this is {__version__}"]})
    from pyspark.sql.pandas.functions import ArrowUDFType

    with warnings.catch_warnings():
        # It prefers type hints, which would have to be imported with this module.
        warnings.simplefilter("ignore", UserWarning)
        made: Callable[..., Column] = F.arrow_udf(run, result, ArrowUDFType.SCALAR)
    return made
