"""A client of schema registries that speak Confluent's REST API: Confluent's own, Karapace, Apicurio, Redpanda."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import quote, urlencode
from uuid import UUID

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.registry.http import Answer, RegistryHttp
from airflow_kconnect.registry.schema import RegisteredSchema, UnknownSchemaError
from airflow_kconnect.registry.wire import SchemaName

_DEPTH_MAX, _REFERRED_MAX = 32, 500
_Version = tuple[str, str]
_UNAVAILABLE = frozenset({408, 429})
_REJECTED = frozenset({400, 409, 413, 422})
_OK, _NOT_FOUND = 200, 404
_CHECK_URL = "check host and path"
_NO_METADATA = "metadata of schemas need a registry that has them, such as Confluent's from version 7.4 on"
_NO_GUIDS = "ids in headers need a registry that has GUIDs, such as Confluent's from version 8.0 on"


class SchemaRegistry:
    """Looks up and registers schemas, each once. Used by the driver of a run only; may be shared between threads.

    Requests are repeated as ``max.retries``, ``retries.wait.ms`` and ``retries.max.wait.ms`` say, at the next URL.

    Each method raises

    - `RetriableError` if no instance of the registry answers, or only with errors of its own (5xx, 429);
    - `ConfigError` if it rejects the credentials, may not be reached, or does not answer as a schema registry;
    - `UnknownSchemaError` if it has no such schema;
    - `DataError` if it rejects the schema.

    :param values: parsed values of `registry_config`.
    :param prefix: of the converter's keys in errors, such as ``value.converter.``.
    """

    def __init__(self, values: Mapping[str, Any], prefix: str = "") -> None:
        self._http = RegistryHttp(values, prefix)
        self._prefix = prefix
        self._normalize = bool(values.get("normalize.schemas"))
        self._tries = 1 + values["max.retries"]
        self._wait_s, self._longest_wait_s = values["retries.wait.ms"] / 1000, values["retries.max.wait.ms"] / 1000
        self._lock = threading.RLock()
        self._by_id: dict[int, RegisteredSchema] = {}
        self._ids: dict[tuple[str, str, RegisteredSchema], int] = {}
        self._by_guid: dict[UUID, RegisteredSchema] = {}
        self._guids: dict[int, UUID] = {}
        self._latest: dict[str, tuple[int, RegisteredSchema]] = {}
        self._by_version: dict[_Version, RegisteredSchema] = {}
        self._url = 0

    def schema(self, name: SchemaName) -> RegisteredSchema:
        """The schema of an id or GUID, with the schemas that it refers to."""
        return self.schema_by_guid(name) if isinstance(name, UUID) else self.schema_by_id(name)

    def schema_by_id(self, schema_id: int) -> RegisteredSchema:
        """The schema of an id, with the schemas that it refers to."""
        with self._lock:
            if schema_id not in self._by_id:
                answer = self._ask("GET", f"/schemas/ids/{schema_id}", what=f"schema {schema_id}")
                self._by_id[schema_id] = self._schema(answer)
            return self._by_id[schema_id]

    def schema_by_guid(self, guid: UUID) -> RegisteredSchema:
        """The schema of a GUID, with the schemas that it refers to."""
        with self._lock:
            if guid not in self._by_guid:
                answer = self._ask("GET", f"/schemas/guids/{guid}", what=f"schema {guid}", cure=_NO_GUIDS)
                self._by_guid[guid] = self._schema(answer)
            return self._by_guid[guid]

    def guid(self, schema_id: int) -> UUID:
        """The GUID of a schema; `ConfigError` if the registry has none."""
        with self._lock:
            if schema_id not in self._guids:
                self._note_guid(schema_id, self._ask("GET", f"/schemas/ids/{schema_id}", what=f"schema {schema_id}"))
            if schema_id not in self._guids:
                raise self._no_registry(self._http.shown, "sends no `guid`", _NO_GUIDS)
            return self._guids[schema_id]

    def register(self, subject: str, schema: RegisteredSchema) -> int:
        """Register a schema under a subject, unless it is there; returns its id."""
        return self._id_of("register", f"/subjects/{quote(subject, safe='')}/versions", subject, schema)

    def lookup(self, subject: str, schema: RegisteredSchema) -> int:
        """The id of a schema that is registered under a subject."""
        return self._id_of("look up", f"/subjects/{quote(subject, safe='')}", subject, schema)

    def latest(self, subject: str) -> tuple[int, RegisteredSchema]:
        """Id and text of the newest schema of a subject."""
        path = f"/subjects/{quote(subject, safe='')}/versions/latest"
        return self._newest(path, f"the newest schema of subject {subject}", _CHECK_URL)

    def latest_with(self, subject: str, metadata: Mapping[str, str]) -> tuple[int, RegisteredSchema]:
        """Id and text of the newest schema of a subject whose metadata have these properties."""
        query = "&".join(urlencode({"key": name, "value": value}) for name, value in metadata.items())
        shown = ", ".join(f"{name}={value}" for name, value in metadata.items())
        what = f"a schema of subject {subject} with the metadata {shown}"
        return self._newest(f"/subjects/{quote(subject, safe='')}/metadata?{query}", what, _NO_METADATA)

    def _newest(self, path: str, what: str, cure: str) -> tuple[int, RegisteredSchema]:
        with self._lock:
            if path not in self._latest:
                answer = self._ask("GET", path, what=what, cure=cure)
                self._latest[path] = self._id(answer), self._schema(answer)
                self._note_guid(self._latest[path][0], answer)
            return self._latest[path]

    def _id_of(self, verb: str, path: str, subject: str, schema: RegisteredSchema) -> int:
        key = verb, subject, schema
        with self._lock:
            if key not in self._ids:
                if self._normalize:
                    path += "?normalize=true"
                body: dict[str, Any] = {"schema": schema.text}
                if schema.type != "AVRO":
                    body["schemaType"] = schema.type
                answer = self._ask("POST", path, body, what=f"a schema of subject {subject}")
                self._ids[key] = self._id(answer)
                self._note_guid(self._ids[key], answer)
            return self._ids[key]

    def _note_guid(self, schema_id: int, answer: Mapping[str, Any]) -> None:
        with suppress(ValueError):
            if isinstance(guid := answer.get("guid"), str):
                self._guids[schema_id] = UUID(guid)

    def _schema(self, answer: Mapping[str, Any]) -> RegisteredSchema:
        schema = self._with_references(answer, 0, set())
        if sum(1 for _ in schema.referred()) > _REFERRED_MAX:
            raise self._too_many()
        return schema

    def _with_references(self, answer: Mapping[str, Any], depth: int, asked: set[_Version]) -> RegisteredSchema:
        """:param asked: the versions that were asked for, for the same schema."""
        text = answer.get("schema")
        if not isinstance(text, str):
            raise self._no_registry(self._http.shown, "sends no `schema`")
        if depth > _DEPTH_MAX:
            raise DataError(f"{self._http.shown}: schemas refer to each other in more than {_DEPTH_MAX} steps")
        references = tuple(
            (str(each["name"]), self._version((str(each["subject"]), str(each["version"])), depth + 1, asked))
            for each in answer.get("references") or ()
        )
        version = answer.get("version")
        return RegisteredSchema(
            str(answer.get("schemaType") or "AVRO"), text, references, version if isinstance(version, int) else None
        )

    def _version(self, wanted: _Version, depth: int, asked: set[_Version]) -> RegisteredSchema:
        """A schema that others refer to. It is asked for once, by however many ways they do: there may be 2^depth."""
        if wanted not in self._by_version:
            asked.add(wanted)
            if len(asked) > _REFERRED_MAX:
                raise self._too_many()
            subject, version = (quote(part, safe="") for part in wanted)
            what = f"version {wanted[1]} of subject {wanted[0]}"
            answer = self._ask("GET", f"/subjects/{subject}/versions/{version}", what=what)
            self._by_version[wanted] = self._with_references(answer, depth, asked)
        return self._by_version[wanted]

    def _too_many(self) -> DataError:
        return DataError(f"{self._http.shown}: a schema refers to more than {_REFERRED_MAX} others")

    def _ask(self, method: str, path: str, body: object = None, *, what: str, cure: str = _CHECK_URL) -> dict[str, Any]:
        """One request, repeated while the registry is unavailable; the answer is a JSON object."""
        problem = ""
        for attempt in range(self._tries):
            if attempt:
                time.sleep(min(self._wait_s * 2 ** (attempt - 1), self._longest_wait_s))
            for _ in self._http.urls:
                try:
                    answer = self._http.send(self._url, method, path, body)
                except RetriableError as error:
                    problem = str(error)
                else:
                    if answer.status < 500 and answer.status not in _UNAVAILABLE:
                        return self._checked(answer, what, cure)
                    problem = f"{answer.url} answers {answer.status} {answer.message}".strip()
                self._url = (self._url + 1) % len(self._http.urls)
        raise RetriableError(
            f"The schema registry is unavailable ({what}): {problem}. Check `{self._prefix}schema.registry.url` and the"
            " registry, then run again"
        )

    def _checked(self, answer: Answer, what: str, cure: str) -> dict[str, Any]:
        if answer.status in (401, 403):
            refused = f"The schema registry at {answer.url} refuses {what}: {answer.status} {answer.message}".strip()
            raise ConfigError({self._http.credentials_key: [refused]})
        if answer.status == _NOT_FOUND and answer.has_code:
            raise UnknownSchemaError(f"The schema registry at {answer.url} does not have {what}: {answer.message}")
        if answer.status in _REJECTED:
            raise DataError(
                f"The schema registry at {answer.url} rejects {what}: {answer.status} {answer.message}".strip()
            )
        if answer.status != _OK or not isinstance(answer.body, dict):
            raise self._no_registry(answer.url, f"answers {answer.status} {answer.message}".strip(), cure)
        return answer.body

    def _id(self, answer: Mapping[str, Any]) -> int:
        schema_id = answer.get("id")
        if not isinstance(schema_id, int):
            raise self._no_registry(self._http.shown, "sends no `id`")
        return schema_id

    def _no_registry(self, url: str, problem: str, cure: str = _CHECK_URL) -> ConfigError:
        """Records are not to blame for a wrong URL: with ``errors.tolerance=all`` they would become dead letters."""
        text = f"{url} does not answer as a schema registry, it {problem}: {cure}"
        return ConfigError({f"{self._prefix}schema.registry.url": [text]})
