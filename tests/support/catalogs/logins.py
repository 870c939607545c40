"""OAuth2 of a REST catalog: ids and secrets of clients get tokens, which expire."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from urllib.parse import parse_qs

from tests.support import unique

PATH = "/v1/oauth/tokens"


class Logins:
    """:ivar clients: id -> secret. :ivar lifetime_s: of tokens. :ivar issued: token -> when it expires."""

    def __init__(self, *, lifetime_s: float = 3600) -> None:
        self.clients = {unique("client"): unique("secret")}
        self.lifetime_s = lifetime_s
        self.issued: dict[str, float] = {}

    @property
    def credential(self) -> str:
        """What the setting `credential` is."""
        [(client, secret)] = self.clients.items()
        return f"{client}:{secret}"

    def new_token(self) -> str:
        """A token that is valid from now on."""
        token = unique("token")
        self.issued[token] = time.monotonic() + self.lifetime_s
        return token

    def refusal(self, headers: Mapping[str, str]) -> str | None:
        """Why a request is refused; None: it is not."""
        token = headers.get("Authorization", "").removeprefix("Bearer ")
        expires = self.issued.get(token)
        if expires is None:
            return "the token is unknown"
        return None if time.monotonic() < expires else "the token has expired"

    def answer(self, headers: Mapping[str, str], body: str) -> tuple[int, str]:
        """Of the endpoint for tokens: status and JSON."""
        form = {name: values[0] for name, values in parse_qs(body).items()}
        if not self._is_known(headers, form):
            return 401, json.dumps({"error": "invalid_client", "error_description": "Client or secret is wrong"})
        kind = "urn:ietf:params:oauth:token-type:access_token"
        answer = {"access_token": self.new_token(), "token_type": "bearer", "issued_token_type": kind}
        return 200, json.dumps({**answer, "expires_in": int(self.lifetime_s)})

    def _is_known(self, headers: Mapping[str, str], form: Mapping[str, str]) -> bool:
        """By id and secret; a token may be exchanged for a new one while it is valid."""
        scheme, _, given = headers.get("Authorization", "").partition(" ")
        if scheme == "Basic":
            client, _, secret = base64.b64decode(given).decode().partition(":")
        elif form["grant_type"] == "client_credentials":
            client, secret = form.get("client_id", ""), form.get("client_secret", "")
        else:
            return self.refusal(headers) is None
        return bool(secret) and self.clients.get(client) == secret
