"""What errors of Google's and Azure's stores mean."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.places.objects.errors import errors_named


@pytest.mark.parametrize(
    ("status", "code", "expected", "text"),
    [
        (409, "PendingCopyOperation", RetriableError, "run again later"),
        (412, "LeaseIdMissing", DataError, "end the lease, then run again"),
        (412, "ConditionNotMet", DataError, "replaced or removed after it was found"),
    ],
)
def test_what_azure_answers_where_others_use_a_file_too(
    status: int, code: str, expected: type[Exception], text: str
) -> None:
    from obstore.exceptions import GenericError, PreconditionError

    kind = PreconditionError if status == 412 else GenericError
    with pytest.raises(expected, match=text), errors_named("cannot write it"):
        raise kind(f"Server returned non-2xx status code: {status} Conflict: <Error><Code>{code}</Code></Error>")
