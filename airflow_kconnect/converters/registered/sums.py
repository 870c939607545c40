"""How the schemas of enums and unions say what they are with ``generalized.sum.type.support``: alike in all formats."""

from __future__ import annotations

UNION = "org.apache.kafka.connect.data.Union"
ENUM = "org.apache.kafka.connect.data.Enum"
UNION_NAME = "connect_union_"
MEMBER = "connect_union_field_"
