"""Worker keys that tasks and `kconnect` have unless others are set; worker files of Connect always have them."""

from __future__ import annotations

WORKER_DEFAULTS = {"status.storage.topic": "connect-status"}
"""Without statuses neither the page nor `kconnect list` would know the runs of connectors that are not registered, and
a source would not notice that its offset topic was lost. An empty text switches them off."""
