"""When dlt's state after a page covers all that was yielded up to then, so that a run can be resumed there.

dlt itself keeps a state only with the end of a run. In between, its incremental cursor is the highest value so far, and
the hashes of the rows that have it: what is lower, or has one of these hashes, is left out when the run is resumed. So

- rows must come in the order of the cursor, or lower ones that were still to come would be missing;
- all rows that have the highest value must be told apart by a primary key: without one, rows that are equal in all
  columns would be taken for each other; with a lag, an open range, or checks turned off, dlt does not compare them;
- rows without a cursor must not pass, for they would be read again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dlt.extract.incremental import Incremental


def resumes_after_pages(incremental: Incremental[Any] | None) -> bool:
    """Whether each page of a resource is a resume point. Called when its incremental cursor is bound.

    :param incremental: None: the resource has no cursor.
    """
    if incremental is None:
        return False
    ordered = incremental.row_order == "asc" and incremental.last_value_func in (min, max)
    told_apart = incremental.range_start == "closed" or incremental.is_unique_cursor()
    kept = incremental.end_value is None and not incremental.lag
    return bool(
        ordered and told_apart and kept and incremental.primary_key and incremental.on_cursor_value_missing != "include"
    )
