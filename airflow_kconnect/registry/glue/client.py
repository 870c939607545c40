"""A client of AWS Glue's schema registry: versions of schemas by their UUIDs, and their registration."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from uuid import UUID

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, RetriableError, in_one_line
from airflow_kconnect.credentials.aws import AwsLogin, aws_session, safe_text, unreachable
from airflow_kconnect.registry.glue import keys
from airflow_kconnect.registry.guarded import Guard
from airflow_kconnect.registry.schema import RegisteredSchema, Schemas, UnknownSchemaError
from airflow_kconnect.registry.wire import SchemaName

_ATTEMPTS = 4
_CHECKED_AFTER_S = (0.5, 1, 2, 3, 3, 3, 3, 3, 3, 3)
"""Pauses while Glue checks whether a version is compatible, which it does after it has answered."""
_AVAILABLE, _PENDING = "AVAILABLE", "PENDING"
_TRANSPORT = "x-amz-meta-transport"
_MISSING, _EXISTS = "EntityNotFoundException", "AlreadyExistsException"
_REJECTED = frozenset({"InvalidInputException", "ValidationException"})
_UNAVAILABLE = frozenset(
    (
        "ConcurrentModificationException",
        "OperationTimeoutException",
        "RequestLimitExceeded",
        "RequestTimeout",
        "Throttling",
        "ThrottlingException",
        "ThrottledException",
        "TooManyRequestsException",
    )
)
_NO_BOTOCORE = "needs the package botocore: pip install 'airflow-kconnect[glue]'"
_log = logging.getLogger(__name__)


class GlueRegistry(Schemas):
    """Looks up and registers versions of schemas, each once.

    Used by the driver of a run only; may be shared between threads.

    Requests are repeated 3 times, with growing pauses. Each method raises

    - `RetriableError` if Glue is unavailable, or still refuses because there are too many requests;
    - `ConfigError` if it refuses the credentials, or if there are none;
    - `UnknownSchemaError` if it has no such schema;
    - `DataError` if it rejects the schema.

    :param values: parsed values of `glue_config`.
    :param prefix: of the converter's keys in errors, such as ``value.converter.``.
    :param secondary: has the schemas of messages that name them by an id; None if there are none.
    """

    def __init__(self, values: Mapping[str, Any], prefix: str, secondary: Schemas | None = None) -> None:
        self._values, self._prefix, self._secondary = values, prefix, secondary
        self._registry: str = values[keys.REGISTRY]
        self._lock = threading.RLock()
        self._by_name: dict[SchemaName, RegisteredSchema] = {}
        self._versions: dict[tuple[str, RegisteredSchema], UUID] = {}

    def schema(self, name: SchemaName) -> RegisteredSchema:
        """The schema of a version; that of an id if there is a secondary registry."""
        with self._lock:
            if name not in self._by_name:
                self._by_name[name] = self._asked(name)
            return self._by_name[name]

    def version(self, schema_name: str, schema: RegisteredSchema, topic: str) -> UUID:
        """The version of a schema that has this text; with ``schemaAutoRegistrationEnabled`` it is made.

        :param topic: noted with a version that is made, as Amazon's client does.
        """
        key = schema_name, schema
        with self._lock:
            if key not in self._versions:
                self._versions[key] = self._found(schema_name, schema) or self._made(schema_name, schema, topic)
            return self._versions[key]

    def _asked(self, name: SchemaName) -> RegisteredSchema:
        if self._secondary is not None and isinstance(name, int):
            return self._secondary.schema(name)
        answer = self._ask("get_schema_version", f"schema version {name}", SchemaVersionId=str(name))
        return RegisteredSchema(str(answer["DataFormat"]), str(answer["SchemaDefinition"]))

    def _found(self, name: str, schema: RegisteredSchema) -> UUID | None:
        """The version that has this text, if there is one."""
        what = f"this version of schema {name}"
        try:
            answer = self._ask("get_schema_by_definition", what, SchemaId=self._id(name), SchemaDefinition=schema.text)
        except UnknownSchemaError as error:
            if self._values[keys.AUTO]:
                return None
            raise UnknownSchemaError(f"{error}. Register it, or set `{self._prefix}{keys.AUTO}` to true") from error
        # A version that was refused stays there: Glue answers with the reason when it is registered again.
        if self._values[keys.AUTO] and answer.get("Status") not in (_AVAILABLE, _PENDING):
            return None
        return self._settled(name, answer)

    def _made(self, name: str, schema: RegisteredSchema, topic: str) -> UUID:
        try:
            version = self._registered(name, schema)
        except UnknownSchemaError:
            version = self._created(name, schema)
        self._note(version, topic)
        return version

    def _registered(self, name: str, schema: RegisteredSchema) -> UUID:
        """A new version of a schema that is there."""
        what = f"a version of schema {name}"
        answer = self._ask("register_schema_version", what, SchemaId=self._id(name), SchemaDefinition=schema.text)
        return self._settled(name, answer)

    def _created(self, name: str, schema: RegisteredSchema) -> UUID:
        """A new schema with this as its first version."""
        given: dict[str, Any] = {
            "RegistryId": {"RegistryName": self._registry},
            "SchemaName": name,
            "DataFormat": schema.type,
            "Compatibility": self._values["compatibility"].upper(),
            "SchemaDefinition": schema.text,
        }
        if self._values["description"]:
            given["Description"] = self._values["description"]
        try:
            return UUID(self._ask("create_schema", f"schema {name}", **given)["SchemaVersionId"])
        except _ExistsError:  # another run has created it meanwhile
            return self._registered(name, schema)
        except UnknownSchemaError as error:
            key = f"{self._prefix}{keys.REGISTRY}"
            raise ConfigError(
                {key: [f"is {self._registry}, and Glue in {self._region} has no such registry"]}
            ) from error

    def _settled(self, name: str, answer: Mapping[str, Any]) -> UUID:
        """The id of a version, when Glue has found it compatible."""
        version, status = str(answer["SchemaVersionId"]), answer.get("Status")
        for pause in _CHECKED_AFTER_S:
            if status != _PENDING:
                break
            time.sleep(pause)
            status = self._ask("get_schema_version", f"schema version {version}", SchemaVersionId=version)["Status"]
        if status == _PENDING:
            raise RetriableError(f"Glue has not yet checked version {version} of schema {name}: run again later")
        if status != _AVAILABLE:
            raise DataError(
                f"Glue refuses a version of schema {name} in registry {self._registry}, it is {status}: most likely the"
                " schema's compatibility setting forbids it"
            )
        return UUID(version)

    def _note(self, version: UUID, topic: str) -> None:
        """Note the topic in Glue, for those who look there: records do not depend on it."""
        pair = {"MetadataKey": _TRANSPORT, "MetadataValue": topic}
        try:
            what = f"metadata of schema version {version}"
            self._ask("put_schema_version_metadata", what, SchemaVersionId=str(version), MetadataKeyValue=pair)
        except _ExistsError:
            return
        except ConnectError as error:
            _log.warning("topic %s was not noted: %s", topic, error)

    def _id(self, name: str) -> dict[str, str]:
        return {"RegistryName": self._registry, "SchemaName": name}

    def _ask(self, operation: str, what: str, **given: Any) -> Mapping[str, Any]:
        with self._explained(what):
            answer: Mapping[str, Any] = getattr(self._client, operation)(**given)
            return answer

    @cached_property
    def _client(self) -> Any:
        from botocore.config import Config

        values = self._values
        proxy = values[keys.PROXY].value if values[keys.PROXY] else None
        if proxy:  # before a role is assumed through it
            Guard(f"{self._prefix}{keys.PROXY}").check_host(proxy)
        config = Config(
            connect_timeout=values["http.connect.timeout.ms"] / 1000,
            read_timeout=values["http.read.timeout.ms"] / 1000,
            retries={"mode": "standard", "total_max_attempts": _ATTEMPTS},
            proxies={"http": proxy, "https": proxy} if proxy else None,
        )
        login = AwsLogin(role_arn=values[keys.ROLE], role_session_name=values["assumeRoleSessionName"])
        arguments: Callable[[str | None], dict[str, Any]] = lambda region: {  # noqa: E731
            "region_name": values[keys.REGION] or region,
            "config": config,
        }
        session = aws_session(login, arguments)
        client = session.create_client("glue", endpoint_url=values[keys.ENDPOINT], **arguments(None))
        if values[keys.ENDPOINT]:
            guard = Guard(f"{self._prefix}{keys.ENDPOINT}")
            check = guard.check_url if proxy else guard.check_host
            client.meta.events.register("before-send.glue", lambda request, **_: check(request.url))
        return client

    @property
    def _region(self) -> str:
        return str(self._client.meta.region_name)

    @contextmanager
    def _explained(self, what: str) -> Iterator[None]:
        """Errors of botocore as ours.

        :param what: is asked for.
        """
        try:
            from botocore.exceptions import (
                BotoCoreError,
                ClientError,
                InvalidRegionError,
                NoCredentialsError,
                NoRegionError,
            )
        except ModuleNotFoundError as error:
            raise ConfigError({self._prefix.rstrip("."): [_NO_BOTOCORE]}) from error
        try:
            yield
        except unreachable() as error:
            raise self._unavailable(what, safe_text(error)) from None  # its text may have a login
        except ClientError as error:
            raise self._answered(what, error) from error
        except NoRegionError as error:
            text = "is not set, and the driver's environment has no region: set it"
            raise ConfigError({f"{self._prefix}{keys.REGION}": [text]}) from error
        except InvalidRegionError as error:
            raise ConfigError({f"{self._prefix}{keys.REGION}": [f"is not a region: {error}"]}) from error
        except NoCredentialsError as error:
            text = (
                "needs credentials of AWS, and the driver finds none: set variables of its environment or a profile, or"
                " give its machine a role"
            )
            raise ConfigError({self._prefix.rstrip("."): [text]}) from error
        except BotoCoreError as error:
            raise ConfigError({self._prefix.rstrip("."): [f"cannot ask Glue for {what}: {error}"]}) from error
        except ValueError as error:  # how botocore refuses hosts, such as those with underscores
            raise ConfigError({f"{self._prefix}{keys.ENDPOINT}": [safe_text(error)]}) from error

    def _unavailable(self, what: str, problem: str) -> RetriableError:
        return RetriableError(
            f"AWS Glue is unavailable ({what}): {problem}. Check `{self._prefix}{keys.REGION}` and the network, then"
            " run again"
        )

    def _answered(self, what: str, error: Any) -> Exception:
        """An error that Glue, or who gives credentials for it, has answered with."""
        said = error.response.get("Error", {})  # nothing where it is not AWS that answers
        code, status = said.get("Code", ""), error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400)
        text = f"{code}: {said['Message']}" if "Message" in said else in_one_line(error)
        if status >= 500 or code in _UNAVAILABLE:
            return self._unavailable(what, text)
        if error.operation_name == "AssumeRole":
            return ConfigError({f"{self._prefix}{keys.ROLE}": [f"cannot be assumed: {text}"]})
        where = f"AWS Glue in {self._region}"
        if code == _MISSING:
            return UnknownSchemaError(f"{where} does not have {what}: {text}")
        if code == _EXISTS:
            return _ExistsError(f"{where} has {what} already")
        if code in _REJECTED:
            return DataError(f"{where} rejects {what}: {text}")
        refused = f"{where} refuses {error.operation_name} of {what}: {text}"
        return ConfigError({self._prefix.rstrip("."): [refused]})


class _ExistsError(DataError):
    """What was to be created is there."""
