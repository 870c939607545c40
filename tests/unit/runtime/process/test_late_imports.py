"""pandas and PySpark's helpers for tests are imported by what uses them, and not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

_HIDDEN = "from airflow_kconnect.runtime.process.late_imports import hide_pandas; hide_pandas()"
_LITTLE = "import pyspark.sql; from airflow_kconnect.runtime.process.late_imports import *; import_little_of_pyspark()"


def _prints(*lines: str) -> str:
    """What a new Python prints."""
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_arrays_do_not_import_a_hidden_pandas() -> None:
    array = "import sys, pyarrow as pa; pa.array([1.0, None]); print('pandas' in sys.modules)"
    assert _prints(_HIDDEN, array) == "False"


def test_a_hidden_pandas_can_still_be_imported() -> None:
    assert _prints(_HIDDEN, "import pandas; print(pandas.Series([1, 2]).sum())") == "3"


@pytest.mark.parametrize(
    "question",
    [
        "from pyspark.testing.utils import have_numpy; assert have_numpy",
        "from pyspark.sql.pandas import functions; functions.require_minimum_pandas_version()",
    ],
)
def test_pyspark_does_not_import_pandas_for_a_question(question: str) -> None:
    assert _prints(_LITTLE, question, "import sys; print('pandas' in sys.modules)") == "False"


def test_a_missing_pandas_is_reported_by_pyspark() -> None:
    missing = "import sys; sys.path = [path for path in sys.path if 'site-packages' not in path]"
    asked = "from pyspark.sql.pandas import functions"
    caught = "try: functions.require_minimum_pandas_version()\nexcept ImportError as error: print(error.getCondition())"
    assert _prints(_LITTLE, asked, missing, caught) == "PACKAGE_NOT_INSTALLED"


def test_helpers_for_tests_are_there_for_those_who_use_them() -> None:
    used = "from pyspark.testing import assertDataFrameEqual; from pyspark.testing.utils import ReusedPySparkTestCase"
    assert _prints(_LITTLE, used, "print(assertDataFrameEqual.__module__)") == "pyspark.testing.utils"
