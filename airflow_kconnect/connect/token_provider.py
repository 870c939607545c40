"""The contract of token providers: what gives Kafka clients the tokens of a login with SASL/OAUTHBEARER."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Token:
    """A token for a login.

    :param value: what the broker gets.
    :param expires_s: until when it is valid, in seconds since 1970. Clients ask for a new one before that.
    :param principal: the name of the user, for brokers that want one.
    :param extensions: of SASL (KIP-342), such as ``logicalCluster``.
    """

    value: str = field(repr=False)
    expires_s: float
    principal: str = ""
    extensions: Mapping[str, str] = field(default_factory=dict)


class TokenProvider(ABC):
    """Gives the Kafka clients of a process their tokens; found by the name of an entry point
    `airflow_kconnect.oauth_providers`.

    One is made in each process that has clients: driver, executors, sensors. They share it, from several threads.

    :param options: the worker's keys `kconnect.oauth.<name>.*` without that prefix, variables resolved, and
        `bootstrap.servers`.
    :raises ConfigError: an option is wrong; the keys are those of the options.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        self.options = options

    @abstractmethod
    def token(self) -> Token:
        """A token that is valid for some time yet. Called for each client when it is created, and again when most of
        its token's time is over.

        :raises ConfigError: credentials are missing or refused. :raises RetriableError: what issues tokens is
            unavailable; so is any other exception.
        """
