"""The client of AWS Glue's registry against moto's: what is found, what is made, and what its errors become."""

from __future__ import annotations

import json
from uuid import UUID

import pytest

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.registry.glue.client import GlueRegistry
from airflow_kconnect.registry.glue.keys import glue_config
from airflow_kconnect.registry.schema import RegisteredSchema, UnknownSchemaError
from tests.support import unique
from tests.support.faults import Exchange, Fault
from tests.support.glue import Glue, refuse_json

SECRET = "s3cr3t-of-the-tests"
ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}
TEXT = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}'
WIDER = '{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "double"}]}'
CONFIG = glue_config(ConfigDef(), "io.confluent.kafka.serializers.KafkaAvroDeserializer")
UNKNOWN = UUID(int=7)


@pytest.fixture(autouse=True)
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


def _registry(aws: Glue, **keys: str) -> GlueRegistry:
    return GlueRegistry(CONFIG.parse(aws.keys(**keys)), "value.converter.")


def _avro(text: str) -> RegisteredSchema:
    return RegisteredSchema("AVRO", text)


class TestReading:
    def test_a_version_has_its_schema(self, aws: Glue) -> None:
        version = aws.register(unique("orders"), ORDER)

        assert _registry(aws).schema(version) == _avro(TEXT)

    def test_a_version_is_asked_for_once(self, aws: Glue) -> None:
        registry, version = _registry(aws), aws.register(unique("orders"), ORDER)
        aws.proxy.seen.clear()

        assert [registry.schema(version), registry.schema(version)] == [_avro(TEXT)] * 2
        assert aws.proxy.seen == ["GetSchemaVersion"]

    def test_an_unknown_version_is_named_with_the_region(self, aws: Glue) -> None:
        with pytest.raises(UnknownSchemaError, match=f"Glue in eu-central-1 does not have schema version {UNKNOWN}"):
            _registry(aws).schema(UNKNOWN)


class TestWriting:
    def test_a_schema_is_created_with_its_first_version(self, aws: Glue) -> None:
        name = unique("orders")
        registry = _registry(aws, schemaAutoRegistrationEnabled="true", compatibility="full", description="of a shop")

        version = registry.version(name, _avro(TEXT), "topic")

        made = aws.client.get_schema(SchemaId={"RegistryName": "default-registry", "SchemaName": name})
        assert (aws.text(version), made["Compatibility"], made["Description"]) == (TEXT, "FULL", "of a shop")

    def test_the_topic_is_noted(self, aws: Glue) -> None:
        noted: list[dict[str, str]] = []

        def note(exchange: Exchange) -> None:
            noted.append(json.loads(exchange.body())["MetadataKeyValue"])
            exchange.answer(200, b"{}")

        with aws.proxy.fault("PutSchemaVersionMetadata", note):
            _registry(aws, schemaAutoRegistrationEnabled="true").version(unique("s"), _avro(TEXT), "shop-orders")

        assert noted == [{"MetadataKey": "x-amz-meta-transport", "MetadataValue": "shop-orders"}]

    def test_a_topic_that_cannot_be_noted_is_no_error(self, aws: Glue) -> None:
        registry = _registry(aws, schemaAutoRegistrationEnabled="true")
        with aws.proxy.fault("PutSchemaVersionMetadata", refuse_json(400, "AccessDeniedException")):
            version = registry.version(unique("s"), _avro(TEXT), "t")

        assert aws.text(version) == TEXT

    def test_a_schema_that_is_there_gets_another_version(self, aws: Glue) -> None:
        name = unique("orders")
        first = aws.register(name, ORDER)

        second = _registry(aws, schemaAutoRegistrationEnabled="true").version(name, _avro(WIDER), "t")

        assert (second != first, aws.text(second)) == (True, WIDER)

    def test_a_version_that_is_there_is_used(self, aws: Glue) -> None:
        name = unique("orders")
        version = aws.register(name, ORDER)
        aws.proxy.seen.clear()

        assert _registry(aws).version(name, _avro(TEXT), "t") == version
        assert aws.proxy.seen == ["GetSchemaByDefinition"]

    def test_without_registration_a_missing_version_is_an_error_that_names_the_key(self, aws: Glue) -> None:
        with pytest.raises(UnknownSchemaError, match=r"`value\.converter\.schemaAutoRegistrationEnabled` to true"):
            _registry(aws).version(unique("orders"), _avro(TEXT), "t")

    def test_without_registration_a_version_that_glue_has_refused_is_not_registered_again(
        self, aws: Glue, failed: Fault
    ) -> None:
        name = unique("orders")
        aws.register(name, ORDER)
        aws.proxy.seen.clear()

        with aws.proxy.fault("GetSchemaByDefinition", failed), pytest.raises(DataError, match="it is FAILURE"):
            _registry(aws).version(name, _avro(TEXT), "t")
        assert aws.proxy.seen == ["GetSchemaByDefinition"]

    def test_what_another_run_has_created_meanwhile_is_used(self, aws: Glue) -> None:
        name = unique("orders")
        version = aws.register(name, ORDER)
        registry = _registry(aws, schemaAutoRegistrationEnabled="true")
        missing = refuse_json(400, "EntityNotFoundException")

        with aws.proxy.fault("GetSchemaByDefinition", missing), aws.proxy.fault("RegisterSchemaVersion", missing):
            assert registry.version(name, _avro(TEXT), "t") == version

    def test_a_version_is_used_when_glue_has_checked_it(self, aws: Glue, pending: Fault) -> None:
        name = unique("orders")
        aws.register(name, ORDER)

        with aws.proxy.fault("RegisterSchemaVersion", pending):
            version = _registry(aws, schemaAutoRegistrationEnabled="true").version(name, _avro(WIDER), "t")

        assert aws.text(version) == WIDER

    def test_a_version_that_glue_refuses_is_a_problem_of_the_data(self, aws: Glue, failed: Fault) -> None:
        name = unique("orders")
        aws.register(name, ORDER)
        registry = _registry(aws, schemaAutoRegistrationEnabled="true")

        with (
            aws.proxy.fault("RegisterSchemaVersion", failed),
            pytest.raises(DataError, match=rf"refuses a version of schema {name} .* it is FAILURE"),
        ):
            registry.version(name, _avro(WIDER), "t")

    def test_an_unknown_registry_is_an_error_of_its_key(self, aws: Glue) -> None:
        registry = _registry(aws, schemaAutoRegistrationEnabled="true", **{"registry.name": "nowhere"})

        with pytest.raises(ConfigError) as caught:
            registry.version("orders", _avro(TEXT), "t")
        assert "Glue in eu-central-1 has no such registry" in caught.value.errors["value.converter.registry.name"][0]


@pytest.fixture
def pending() -> Fault:
    return _with_status("PENDING")


@pytest.fixture
def failed() -> Fault:
    return _with_status("FAILURE")


def refuse_sts(exchange: Exchange) -> None:
    exchange.body()
    error = b"<Error><Code>AccessDenied</Code><Message>not authorized</Message></Error>"
    exchange.answer(403, b"<ErrorResponse>" + error + b"</ErrorResponse>", {"Content-Type": "text/xml"})


def _with_status(status: str) -> Fault:
    """Moto knows no checks: its answer has another status."""

    def act(exchange: Exchange) -> None:
        code, body, headers = exchange.forward()
        exchange.answer(code, json.dumps(json.loads(body) | {"Status": status}).encode(), headers)

    return act


class TestErrors:
    @pytest.mark.parametrize(
        "fault",
        [
            refuse_json(400, "ThrottlingException", "Rate exceeded"),
            refuse_json(500, "InternalServiceException"),
            refuse_json(503, "ServiceUnavailable"),
        ],
        ids=["throttled", "failing", "unavailable"],
    )
    def test_what_passes_is_repeated(self, aws: Glue, fault: Fault) -> None:
        version = aws.register(unique("orders"), ORDER)

        with aws.proxy.fault("GetSchemaVersion", fault):
            assert _registry(aws).schema(version) == _avro(TEXT)

    def test_what_lasts_is_to_be_run_again(self, aws: Glue) -> None:
        fault = refuse_json(400, "ThrottlingException", "Rate exceeded")

        with (
            aws.proxy.fault("GetSchemaVersion", fault, times=9),
            pytest.raises(RetriableError, match=r"unavailable .*Rate exceeded"),
        ):
            _registry(aws).schema(UNKNOWN)

    def test_a_registry_that_does_not_answer_is_unavailable(self) -> None:
        values = CONFIG.parse({"region": "eu-central-1", "endpoint": f"http://{LOOPBACK}:{free_port()}"})

        with pytest.raises(RetriableError, match=r"Check `value\.converter\.region`"):
            GlueRegistry(values, "value.converter.").schema(UNKNOWN)

    def test_a_token_that_cannot_be_sent_is_not_shown(self, aws: Glue, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_SESSION_TOKEN", f"{SECRET}\nx")

        with pytest.raises(RetriableError) as caught:
            _registry(aws).schema(UNKNOWN)
        assert SECRET not in str(caught.value)
        assert caught.value.__cause__ is None

    def test_the_login_of_a_proxy_is_not_shown(self, aws: Glue) -> None:
        proxy = f"http://user:{SECRET}@{LOOPBACK}:{free_port()}"

        with pytest.raises(RetriableError, match="proxy") as caught:
            _registry(aws, proxyUrl=proxy).schema(UNKNOWN)
        assert SECRET not in str(caught.value)

    @pytest.mark.parametrize("code", ["AccessDeniedException", "UnrecognizedClientException", "ExpiredTokenException"])
    def test_a_refusal_names_what_was_refused_and_no_secret(self, aws: Glue, code: str) -> None:
        with (
            aws.proxy.fault("GetSchemaVersion", refuse_json(400, code, "not authorized")),
            pytest.raises(ConfigError) as caught,
        ):
            _registry(aws).schema(UNKNOWN)
        text = caught.value.errors["value.converter"][0]
        assert f"refuses GetSchemaVersion of schema version {UNKNOWN}: {code}: not authorized" in text
        assert SECRET not in str(caught.value)

    @pytest.mark.parametrize(
        ("region", "says"), [(None, "is not set"), ("a b", "is not a region")], ids=["none", "no region"]
    )
    def test_a_wrong_region_is_an_error_of_its_key(self, region: str | None, says: str) -> None:
        values = CONFIG.parse({"region": region} if region else {})

        with pytest.raises(ConfigError) as caught:
            GlueRegistry(values, "value.converter.").schema(UNKNOWN)
        assert says in caught.value.errors["value.converter.region"][0]

    def test_missing_credentials_say_where_they_are_looked_for(
        self, aws: Glue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")

        with pytest.raises(ConfigError) as caught:
            _registry(aws).schema(UNKNOWN)
        assert "needs credentials of AWS" in caught.value.errors["value.converter"][0]


class TestRoles:
    ARN = "arn:aws:iam::123456789012:role/schemas"

    def test_a_role_is_assumed(self, aws: Glue, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", aws.url)
        version = aws.register(unique("orders"), ORDER)
        aws.proxy.seen.clear()

        _registry(aws, assumeRoleArn=self.ARN).schema(version)

        assert aws.proxy.seen == ["AssumeRole", "GetSchemaVersion"]

    def test_a_role_that_may_not_be_assumed_is_an_error_of_its_key(
        self, aws: Glue, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", aws.url)

        with (
            aws.proxy.fault("AssumeRole", refuse_sts),
            pytest.raises(ConfigError) as caught,
        ):
            _registry(aws, assumeRoleArn=self.ARN).schema(UNKNOWN)
        assert (
            "cannot be assumed: AccessDenied: not authorized" in caught.value.errors["value.converter.assumeRoleArn"][0]
        )
