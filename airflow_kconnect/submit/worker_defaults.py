"""Worker keys that tasks and `kconnect` have unless others are set; worker files of Connect always have them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORKER_DEFAULTS = {"status.storage.topic": "connect-status"}
"""Without statuses neither the page nor `kconnect list` would know the runs of connectors that are not registered, and
a source would not notice that its offset topic was lost. An empty text switches them off."""


def with_defaults(worker: Mapping[str, Any]) -> dict[str, Any]:
    """The worker's keys with `WORKER_DEFAULTS`.

    A worker with an offset topic of its own has its own status topic, too: `team-offsets`, `team-status`. Otherwise
    connectors of the same name would be taken for one, though they have nothing in common.

    :param worker: variables not resolved.
    """
    offsets = str(worker.get("offset.storage.topic") or "").strip()
    own = {"status.storage.topic": f"{offsets.removesuffix('-offsets')}-status"} if offsets else {}
    return {**WORKER_DEFAULTS, **own, **worker}
