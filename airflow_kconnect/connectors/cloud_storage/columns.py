"""Names of the columns that are rendered for the writer."""

from __future__ import annotations

from airflow_kconnect.connectors.cloud_storage.rules.layout import Part

PARTS = {Part.VALUES: "values", Part.KEYS: "keys", Part.HEADERS: "headers_of"}
"""The stored parts: texts with their ends of lines (BINARY), or structs."""
FOLDER = "folder"
"""The folder, if fields make it."""
MOMENT = "moment_ms"
"""What the folder is made of, if moments make it; null: `TOMBSTONE` is true."""
TOMBSTONE = "is_tombstone"
"""Whether the record has no value, if such records are stored."""
