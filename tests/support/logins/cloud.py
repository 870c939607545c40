"""What clouds answer to those who ask for credentials: AWS's STS and containers, Azure's and Google's tokens, and keys.

It remembers what it has given out, and tells the broker of `logins.broker` about it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key

from tests.support.certificates import self_signed
from tests.support.http_server import Answer, Request, http_server
from tests.support.proxy import proxy_to

AUDIENCE = "kafka"
IDENTITY_HEADER = "identity-header"
ENTRA = "login.microsoftonline.com"
CLIENT_SECRET = "of-an-application"
_STS = """<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>{key}</AccessKeyId><SecretAccessKey>{secret}</SecretAccessKey><SessionToken>{session}</SessionToken>
<Expiration>{until}</Expiration></Credentials><AssumedRoleUser><Arn>{arn}</Arn><AssumedRoleId>x:y</AssumedRoleId>
</AssumedRoleUser></AssumeRoleResult></AssumeRoleResponse>"""
_DENIED = """<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>
<Code>AccessDenied</Code><Message>User is not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>"""


@dataclass
class Cloud:
    """:param life_s: of what it gives out.
    :param keys: access key and session token -> secret key. :param tokens: access token of Google -> until when.
    :param asked: the paths of requests, without what brokers ask.
    """

    url: str
    life_s: float = 3600
    status: int = 200
    keys: dict[tuple[str, str], str] = field(default_factory=dict)
    tokens: dict[str, float] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    _private: RSAPrivateKey = field(default_factory=lambda: generate_private_key(65537, 2048))

    def jwt(self, subject: str = "kconnect", **claims: Any) -> str:
        """A token that Kafka's own check accepts."""
        now = time.time()
        own = {"sub": subject, "aud": AUDIENCE, "iat": now, "exp": now + self.life_s}
        return jwt.encode(own | claims, self._private, "RS256", headers={"kid": "one"})

    def service_account(self) -> dict[str, str]:
        """The content of a key file of Google."""
        pkcs8 = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return {
            "type": "service_account",
            "client_email": "kconnect@example.iam.gserviceaccount.com",
            "private_key_id": "one",
            "private_key": self._private.private_bytes(*pkcs8).decode(),
            "token_uri": f"{self.url}/google/token",
        }

    def answered(self, request: Request) -> Answer:
        """A request's answer."""
        parts = urlsplit(request.path)
        query = {key: values[0] for key, values in parse_qs(f"{parts.query}&{request.body.decode()}").items()}
        status, text = self._answer(parts.path, query, request.headers)
        kind = "text/xml" if text.startswith("<") else "application/json"
        return Answer(status, {"Content-Type": kind}, text.encode())

    def _answer(self, path: str, query: dict[str, str], headers: dict[str, str]) -> tuple[int, str]:
        """Status and body. :param query: that of a form, too."""
        if path == "/secret":
            secret = self.keys.get((query["access_key"], query.get("session", "")))
            return (404, "") if secret is None else (200, secret)
        if path == "/tokeninfo":
            until = self.tokens.get(query["access_token"])
            return (404, "") if until is None else (200, f"kconnect {until}")
        if path == "/keys":
            own = jwt.algorithms.RSAAlgorithm.to_jwk(self._private.public_key(), as_dict=True)
            return 200, json.dumps({"keys": [{**own, "kid": "one", "use": "sig", "alg": "RS256"}]})
        self.asked.append(path)
        return self._given_out(path, query, headers) if self.status == 200 else (self.status, "unavailable")

    def _given_out(self, path: str, query: dict[str, str], headers: dict[str, str]) -> tuple[int, str]:
        until_s = time.time() + self.life_s
        if path == "/aws/container":
            names = ("AccessKeyId", "SecretAccessKey", "Token", "Expiration")
            return 200, json.dumps(dict(zip(names, self._new_keys(until_s), strict=True)))
        if path == "/aws/sts/":
            if query["RoleArn"].endswith("/denied"):
                return 403, _DENIED
            key, secret, session, until = self._new_keys(until_s)
            return 200, _STS.format(key=key, secret=secret, session=session, until=until, arn=query["RoleArn"])
        if path == "/azure/msi" and headers.get("X-IDENTITY-HEADER") == IDENTITY_HEADER:
            answer = {"access_token": self.jwt("managed"), "expires_on": str(int(until_s)), "token_type": "Bearer"}
            return 200, json.dumps(answer | {"resource": query["resource"]})
        if path == "/google/token":
            token = f"ya29.{len(self.tokens)}"
            self.tokens[token] = until_s
            return 200, json.dumps({"access_token": token, "expires_in": int(self.life_s), "token_type": "Bearer"})
        return self._of_entra_id(path, query)

    def _of_entra_id(self, path: str, query: dict[str, str]) -> tuple[int, str]:
        """What an application with a secret asks for."""
        if path == "/nowhere/v2.0/.well-known/openid-configuration":
            return 400, json.dumps({"error": "invalid_tenant", "error_description": "AADSTS90002: Tenant not found"})
        if path.endswith("/.well-known/openid-configuration"):
            tenant = f"https://{ENTRA}/{path.split('/')[1]}"
            names = {"token_endpoint": "oauth2/v2.0/token", "authorization_endpoint": "oauth2/v2.0/authorize"}
            return 200, json.dumps(
                {"issuer": f"{tenant}/v2.0"} | {key: f"{tenant}/{end}" for key, end in names.items()}
            )
        if path == "/common/discovery/instance":  # asked before a refused secret is forgotten
            known = {"preferred_network": ENTRA, "preferred_cache": ENTRA, "aliases": [ENTRA]}
            return 200, json.dumps({"metadata": [known]})
        if path.endswith("/oauth2/v2.0/token"):
            if query["client_secret"] != CLIENT_SECRET:
                return 401, json.dumps(
                    {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid secret"}
                )
            answer = {"access_token": self.jwt(query["client_id"]), "expires_in": int(self.life_s)}
            return 200, json.dumps(answer | {"token_type": "Bearer"})
        return 404, "{}"

    def _new_keys(self, until_s: float) -> tuple[str, str, str, str]:
        number = len(self.keys)
        key, secret, session = f"ASIA{number}", f"secret-{number}", f"session/{number}=="
        self.keys[key, session] = secret
        return key, secret, session, datetime.fromtimestamp(until_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def cloud() -> Iterator[Cloud]:
    """A server on the loopback address, for as long as the block."""
    with http_server(answer=lambda request: found.answered(request)) as server:
        found = Cloud(server.url)
        yield found


@contextmanager
def entra_id(found: Cloud, folder: Path) -> Iterator[dict[str, str]]:
    """Entra ID by its own name, for those who have this environment: a proxy leads to the cloud, by https.

    :param folder: for its certificate.
    """
    (certificate := folder / "entra.pem").write_text("".join(self_signed(ENTRA)))
    with http_server(answer=found.answered, certificate=certificate) as server, proxy_to(server.url) as proxy:
        yield {"HTTPS_PROXY": proxy, "https_proxy": proxy, "REQUESTS_CA_BUNDLE": str(certificate)}
