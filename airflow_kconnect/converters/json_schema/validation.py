"""Checks payloads against their JSON Schema: ``json.fail.invalid.schema``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.converters.json_schema.documents import Documents, invalid
from airflow_kconnect.registry.schema import RegisteredSchema

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "json.fail.invalid.schema"


def check_installed() -> None:
    """:raises ConfigError: the package that validates is missing."""
    if find_spec("jsonschema") is None:
        raise ConfigError({KEY: ["needs the package jsonschema: pip install 'airflow-kconnect[json-schema]'"]})


@dataclass(frozen=True)
class Validation:
    """A schema that payloads must conform to; pickled into tasks."""

    schema: RegisteredSchema

    def checker(self) -> Callable[[bytes], None]:
        """Checks one payload.

        :raises DataError: the schema is invalid. The checker raises it for payloads that do not conform; its text has
            no values of them.
        """
        from jsonschema import exceptions, validators
        from referencing import Registry, Resource
        from referencing.exceptions import Unresolvable
        from referencing.jsonschema import DRAFT7

        documents = Documents(self.schema)
        root: Any = documents.root.node
        dialect = validators.validator_for(root, default=validators.Draft7Validator)
        try:
            dialect.check_schema(root)
        except exceptions.SchemaError as error:
            raise invalid(f"at {error.json_path}: {error.message}") from error
        whole = documents.whole
        # A reference may be relative to the identifier of any document that contains it.
        everywhere = {urljoin(base, uri): node for base in whole for uri, node in whole.items()} | whole
        resources = [
            (uri, Resource.from_contents(node, default_specification=DRAFT7)) for uri, node in everywhere.items()
        ]
        registry: Any = Registry().with_resources(resources)
        validator = dialect(root, registry=registry)

        def check(payload: bytes) -> None:
            try:
                error = exceptions.best_match(validator.iter_errors(json.loads(payload)))
            except Unresolvable as problem:
                raise invalid(f"it refers to {problem.ref}, which is neither in it nor among its references") from None
            except (RecursionError, ValueError) as problem:
                raise DataError("JSON cannot be validated: it nests too deeply, or is not JSON") from problem
            if error is not None:
                raise DataError(f"JSON does not match its schema: `{error.validator}` fails at {error.json_path}")

        return check
