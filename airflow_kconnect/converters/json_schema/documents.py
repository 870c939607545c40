"""JSON Schema documents of a registry, and the schemas in them that ``$ref`` refers to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.registered.schema_walk import shown
from airflow_kconnect.registry.schema import RegisteredSchema

_DEPTH_MAX = 500


@dataclass(frozen=True)
class Subschema:
    """A schema within a document.

    :param node: its JSON.
    :param base: URI against which its references are resolved.
    """

    node: Any
    base: str = ""

    def below(self, node: Any) -> Subschema:
        """A schema within this one."""
        return Subschema(node, _own_base(node, self.base))


def invalid(problem: str) -> DataError:
    """The error for a schema that cannot be used."""
    return DataError(f"The JSON schema: {problem}")


class Documents:
    """A schema and what it refers to.

    :raises DataError: one of the documents is not JSON, or nests too deeply.
    """

    def __init__(self, schema: RegisteredSchema) -> None:
        self._subschemas: dict[str, Subschema] = {}
        self.whole: dict[str, Any] = {}
        """Whole documents, by URI."""
        self._seen: set[tuple[str, str]] = set()
        self.root = self._document(schema, "")

    def referred(self, subschema: Subschema, reference: Any) -> Subschema:
        """The schema that a ``$ref`` in a schema refers to.

        :raises DataError: there is none.
        """
        if not isinstance(reference, str):
            raise invalid(f"$ref is not a string: {shown(reference)}")
        for uri in (_joined(subschema.base, reference), reference):
            if uri in self._subschemas:
                return self._subschemas[uri]
            document, fragment = urldefrag(uri)
            known = self._subschemas.get(document)
            if known is not None and (not fragment or fragment.startswith("/")):
                return _pointed(known, unquote(fragment), reference)
        raise invalid(
            f"it refers to {reference}, which is neither in it nor among its references; schemas of other servers are "
            "not fetched"
        )

    def _document(self, schema: RegisteredSchema, name: str) -> Subschema:
        for other, referenced in schema.references:
            if (other, referenced.text) not in self._seen:
                self._seen.add((other, referenced.text))
                self._document(referenced, other)
        node = _parsed(schema.text)
        base = _own_base(node, name)
        root = Subschema(node, base)
        self._subschemas[name] = self._subschemas[base] = root
        # A reference may be relative to the identifier of the document that contains it.
        self._subschemas.update({_joined(base, other): self._subschemas[other] for other, _ in schema.references})
        self.whole.update({uri: self._subschemas[uri].node for uri in (name, base)})
        self._index(root, 0)
        return root

    def _index(self, subschema: Subschema, depth: int) -> None:
        """Note all schemas that have an identifier or an anchor."""
        if depth > _DEPTH_MAX:
            raise invalid(f"it nests more than {_DEPTH_MAX} levels")
        if isinstance(subschema.node, list):
            for item in subschema.node:
                self._index(subschema.below(item), depth + 1)
        elif isinstance(subschema.node, dict):
            self._note(subschema)
            for name, member in subschema.node.items():
                if name not in ("enum", "const", "default", "examples"):
                    self._index(subschema.below(member), depth + 1)

    def _note(self, subschema: Subschema) -> None:
        for key in ("$id", "id"):
            identifier = subschema.node.get(key)
            if isinstance(identifier, str):
                self._subschemas.setdefault(_joined(subschema.base, identifier), subschema)
        for key in ("$anchor", "$dynamicAnchor"):
            anchor = subschema.node.get(key)
            if isinstance(anchor, str):
                self._subschemas.setdefault(f"{subschema.base}#{anchor}", subschema)


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise invalid(f"it is not JSON: {error}") from error
    except RecursionError as error:
        raise invalid("it nests too deeply") from error


def _joined(base: str, uri: str) -> str:
    try:
        return urljoin(base, uri)
    except ValueError as error:
        raise invalid(f"{shown(uri)} is not a URI") from error


def _own_base(node: Any, base: str) -> str:
    """The base of a schema: its identifier, if that is not an anchor of its document."""
    if not isinstance(node, Mapping):
        return base
    for key in ("$id", "id"):
        identifier = node.get(key)
        if isinstance(identifier, str) and not identifier.startswith("#"):
            return urldefrag(_joined(base, identifier))[0]
    return base


def _pointed(document: Subschema, pointer: str, reference: str) -> Subschema:
    """The schema at a JSON pointer."""
    subschema = document
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        node = subschema.node
        if isinstance(node, dict) and name in node:
            subschema = subschema.below(node[name])
        elif isinstance(node, list) and name.isascii() and name.isdecimal() and int(name) < len(node):
            subschema = subschema.below(node[int(name)])
        else:
            raise invalid(f"it refers to {reference}, which does not exist")
    return subschema
