"""The client of schema registries: what it asks, how often, and what an answer means."""

from __future__ import annotations

import base64
from dataclasses import replace
from uuid import UUID

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.registry.guarded import ANSWER_MAX_BYTES
from airflow_kconnect.registry.schema import RegisteredSchema, UnknownSchemaError
from tests.unit.registry.conftest import Client, Server

TEXT = '{"type":"string"}'
GUID = UUID("6a5c1f9e-0000-4000-8000-0123456789ab")
STRING = RegisteredSchema("AVRO", TEXT)


class TestQuestions:
    def test_a_schema_is_asked_for_once(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"schema": TEXT})]
        registry = client()

        assert [registry.schema_by_id(3), registry.schema_by_id(3)] == [STRING, STRING]
        assert server.paths == ["/schemas/ids/3"]

    def test_references_are_looked_up_with_theirs(self, server: Server, client: Client) -> None:
        def refers(name: str) -> dict[str, object]:
            return {"schema": name, "references": [{"name": f"of {name}", "subject": "a/b", "version": 2}]}

        server.answers = [(200, refers("outer")), (200, refers("inner")), (200, {"schema": TEXT, "version": 2})]

        inner = RegisteredSchema("AVRO", "inner", (("of inner", RegisteredSchema("AVRO", TEXT, version=2)),))
        assert client().schema_by_id(1) == RegisteredSchema("AVRO", "outer", (("of outer", inner),))
        assert server.paths[1:] == ["/subjects/a%2Fb/versions/2"] * 2

    def test_a_schema_that_many_ways_lead_to_is_asked_for_once(self, server: Server, client: Client) -> None:
        def twice(level: int) -> dict[str, object]:
            below = {"subject": f"s{level - 1}", "version": 1}
            return {"schema": f"t{level}", "references": [{"name": name, **below} for name in ("a", "b")] * (level > 0)}

        server.answers = [(200, twice(level)) for level in range(24, -1, -1)]
        schema = client().schema_by_id(1)

        assert len(server.paths) == 25
        assert len(list(schema.referred())) == 48
        assert len({schema, replace(schema), replace(schema, text="other")}) == 2

    def test_a_schema_that_refers_to_too_many_is_refused(self, server: Server, client: Client) -> None:
        references = [{"name": f"n{number}", "subject": f"s{number}", "version": 1} for number in range(501)]
        server.answers = [(200, {"schema": "x", "references": references}), (200, {"schema": TEXT})]

        with pytest.raises(DataError, match="refers to more than 500 others"):
            client().schema_by_id(1)

    def test_schemas_that_refer_to_each_other_without_end_are_an_error(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"schema": "x", "references": [{"name": "x", "subject": "x", "version": 1}]})]

        with pytest.raises(DataError, match="refer to each other in more than"):
            client().schema_by_id(1)

    def test_a_schema_is_registered_once(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"id": 5})]
        registry = client()

        assert [registry.register("t-value", STRING), registry.register("t-value", STRING)] == [5, 5]
        assert [(method, path) for method, path, _ in server.asked] == [("POST", "/subjects/t-value/versions")]

    def test_normalize_is_asked_for(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"id": 5})]

        client(normalize_schemas="true").lookup("t", STRING)

        assert server.paths == ["/subjects/t?normalize=true"]


class TestNewest:
    def test_metadata_are_asked_for_once(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"id": 5, "schema": TEXT})]
        registry, metadata = client(), {"major": "2", "owner": "a&b"}

        assert [registry.latest_with("t/v", metadata) for _ in range(2)] == [(5, STRING)] * 2
        assert server.paths == ["/subjects/t%2Fv/metadata?key=major&value=2&key=owner&value=a%26b"]

    def test_a_subject_without_such_a_schema_is_an_unknown_one(self, server: Server, client: Client) -> None:
        server.answers = [(404, {"error_code": 40403, "message": "Schema not found"})]

        with pytest.raises(UnknownSchemaError, match="a schema of subject t with the metadata major=2"):
            client().latest_with("t", {"major": "2"})

    def test_a_registry_without_metadata_is_an_error_that_says_so(self, server: Server, client: Client) -> None:
        server.answers = [(404, b"")]

        with pytest.raises(ConfigError, match="metadata of schemas need a registry that has them"):
            client().latest_with("t", {"major": "2"})


class TestGuids:
    def test_a_schema_is_asked_for_once(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"schema": TEXT})]
        registry = client()

        assert [registry.schema_by_guid(GUID), registry.schema_by_guid(GUID)] == [STRING, STRING]
        assert server.paths == [f"/schemas/guids/{GUID}"]

    def test_that_of_a_registered_schema_is_in_the_answer(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"id": 5, "guid": str(GUID)})]
        registry = client()

        assert registry.guid(registry.register("t-value", STRING)) == GUID
        assert len(server.asked) == 1

    def test_that_of_another_is_asked_for(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"schema": TEXT, "guid": str(GUID)})]

        assert client().guid(5) == GUID

    @pytest.mark.parametrize("answer", [{"schema": TEXT}, {"schema": TEXT, "guid": "x"}])
    def test_a_registry_without_them_is_an_error(
        self, server: Server, client: Client, answer: dict[str, object]
    ) -> None:
        server.answers = [(200, answer)]

        with pytest.raises(ConfigError, match="a registry that has GUIDs"):
            client().guid(5)

    def test_a_registry_that_cannot_be_asked_for_them_is_an_error(self, server: Server, client: Client) -> None:
        server.answers = [(404, b"")]

        with pytest.raises(ConfigError, match="a registry that has GUIDs"):
            client().schema_by_guid(GUID)


class TestAnswers:
    @pytest.mark.parametrize("status", [429, 500, 501, 503, 520])
    def test_an_overloaded_registry_is_asked_again(self, server: Server, client: Client, status: int) -> None:
        server.answers = [(status, {}), (200, {"schema": TEXT})]

        assert client().schema_by_id(1) == STRING

    def test_an_unavailable_one_can_be_retried_and_is_named(self, client: Client) -> None:
        url = f"http://127.0.0.1:{free_port()}"

        with pytest.raises(RetriableError, match=f"unavailable.*{url}.*`value.converter.schema.registry.url`"):
            client(url, max_retries="1").schema_by_id(1)

    def test_the_next_url_is_asked(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"schema": TEXT})]

        assert client(f"http://127.0.0.1:{free_port()},{server.url}", max_retries="0").schema_by_id(1) == STRING

    @pytest.mark.parametrize("status", [401, 403])
    def test_wrong_credentials_are_an_error_of_the_configuration(
        self, server: Server, client: Client, status: int
    ) -> None:
        server.answers = [(status, {"message": "who are you"})]

        with pytest.raises(ConfigError, match=r"`value\.converter\.basic\.auth\.user\.info`.*who are you"):
            client().schema_by_id(1)

    def test_an_unknown_schema_is_one(self, server: Server, client: Client) -> None:
        server.answers = [(404, {"error_code": 40403, "message": "Schema not found"})]

        with pytest.raises(UnknownSchemaError, match="does not have schema 1: Schema not found"):
            client().schema_by_id(1)

    @pytest.mark.parametrize("status", [409, 422])
    def test_a_rejected_schema_names_subject_and_reason(self, server: Server, client: Client, status: int) -> None:
        server.answers = [(status, {"message": "incompatible\nwith 3"})]

        with pytest.raises(DataError, match=f"rejects a schema of subject t-value: {status} incompatible with 3"):
            client().register("t-value", STRING)

    @pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"id": "x"}', b"[" * 100_000], ids=lambda body: str(body[:8]))
    def test_something_else_at_the_url_is_an_error_of_the_configuration(
        self, server: Server, client: Client, body: bytes
    ) -> None:
        server.answers = [(200, body)]

        with pytest.raises(ConfigError, match=r"`value\.converter\.schema\.registry\.url`"):
            client().register("t", STRING)

    @pytest.mark.parametrize(
        "body",
        [b"<html>", b"", {"error_code": 404, "message": "HTTP 404 Not Found"}, {"detail": "no such path"}],
        ids=["page", "nothing", "registry", "Apicurio"],
    )
    def test_a_wrong_path_is_not_an_unknown_schema(self, server: Server, client: Client, body: object) -> None:
        server.answers = [(404, body)]

        with pytest.raises(ConfigError, match="does not answer as a schema registry, it answers 404"):
            client().schema_by_id(1)


class TestSafety:
    def test_a_redirect_is_not_followed(self, server: Server, client: Client) -> None:
        server.answers, server.headers = [(302, {})], {"Location": f"{server.url}/elsewhere"}

        with pytest.raises(ConfigError, match="302"):
            client().schema_by_id(1)
        assert server.paths == ["/schemas/ids/1"]

    def test_an_answer_without_end_is_cut_off(self, server: Server, client: Client) -> None:
        server.answers = [(200, b" " * (ANSWER_MAX_BYTES + 1))]

        with pytest.raises(ConfigError, match="answers with more than"):
            client().schema_by_id(1)

    @pytest.mark.parametrize(
        "address",
        [
            *("169.254.169.254", "fe80::1", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"),
            *("fd00:ec2::254", "fd20:ce::254", "100.100.100.200"),
        ],
    )
    def test_nothing_is_sent_to_a_link_local_address(self, client: Client, address: str) -> None:
        class Stream:
            def get_extra_info(self, name: str) -> tuple[str, int]:
                return address, 80

        with pytest.raises(ConfigError, match="is a link-local address"):
            client()._http._http.check_peer("connection.connect_tcp.complete", {"return_value": Stream()})

    def test_nor_by_a_proxy(self, client: Client) -> None:
        registry = client(schema_registry_url="http://169.254.169.254/", proxy_host="127.0.0.1", proxy_port="9")
        with pytest.raises(ConfigError, match="is a link-local address"):
            registry.schema_by_id(1)


class TestCredentials:
    def _authorization(self, server: Server) -> str:
        return server.asked[0][2]["Authorization"]

    @pytest.mark.parametrize(
        "keys",
        [
            {"basic_auth_credentials_source": "USER_INFO", "basic_auth_user_info": "ann:p@ss"},
            {"basic_auth_credentials_source": "USER_INFO", "schema_registry_basic_auth_user_info": "ann:p@ss"},
        ],
        ids=["key", "older key"],
    )
    def test_user_and_password(self, server: Server, client: Client, keys: dict[str, str]) -> None:
        server.answers = [(200, {"schema": TEXT})]

        client(**keys).schema_by_id(1)

        assert self._authorization(server) == "Basic " + base64.b64encode(b"ann:p@ss").decode()

    def test_those_of_the_url(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"schema": TEXT})]

        client(server.url.replace("//", "//ann:p%40ss@")).schema_by_id(1)

        assert self._authorization(server) == "Basic " + base64.b64encode(b"ann:p@ss").decode()

    def test_a_token(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"schema": TEXT})]

        client(bearer_auth_token="t0ken").schema_by_id(1)

        assert self._authorization(server) == "Bearer t0ken"

    def test_those_of_one_url_are_sent_to_no_other(self, server: Server, client: Client) -> None:
        server.answers = [(200, {"schema": TEXT})]

        client(f"http://ann:pass@127.0.0.1:{free_port()},{server.url}", max_retries="0").schema_by_id(1)

        assert "Authorization" not in server.asked[0][2]

    def test_a_refused_token_names_its_key(self, server: Server, client: Client) -> None:
        server.answers = [(401, {"message": "expired"})]

        with pytest.raises(ConfigError, match=r"`value\.converter\.bearer\.auth\.token`.*expired"):
            client(bearer_auth_token="t0ken").schema_by_id(1)

    @pytest.mark.parametrize("status", [401, 404, 409, 500])
    def test_no_error_shows_them(self, server: Server, client: Client, status: int) -> None:
        server.answers = [(status, {"message": "no"})]
        registry = client(server.url.replace("//", "//ann:s3cret-pass@"), max_retries="0")

        with pytest.raises((ConfigError, DataError, RetriableError)) as caught:
            registry.register("t", STRING)

        assert "s3cret-pass" not in str(caught.value)

    def test_a_certificate_that_is_not_there_is_named(self, client: Client) -> None:
        keys = {"schema_registry_ssl_truststore_location": "/no/ca.pem"}

        with pytest.raises(ConfigError, match=r"ssl\.truststore\.location`: there is no file /no/ca\.pem"):
            client("https://127.0.0.1:1", **keys).schema_by_id(1)
