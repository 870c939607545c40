"""Which target a command addresses: a REST API, or a worker's topics; from options, a profile, or the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from airflow_kconnect.cli.connectors.api import Connectors
from airflow_kconnect.cli.connectors.profiles import Profile, profile_of
from airflow_kconnect.cli.listening import check_listening
from airflow_kconnect.cli.worker import Servers, WorkerFile, worker_config
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.remote.access import Access, Credentials
from airflow_kconnect.remote.local_token import token_of

if TYPE_CHECKING:
    from airflow_kconnect.remote.client import RestClient

SERVER, PROFILE = "KCONNECT_SERVER", "KCONNECT_PROFILE"

Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        help="A REST API of Kafka Connect: of `kconnect rest`, of Airflow (`https://.../kconnect`), or of a Connect "
        f"cluster. Default: straight to the topics. [env var: {SERVER}; login: KCONNECT_TOKEN, or KCONNECT_USER and "
        "KCONNECT_PASSWORD]",
        show_default=False,
    ),
]
ProfileName = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        help=f"Take server or worker from `~/.config/kconnect/config.toml`. [env var: {PROFILE}]",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class Target:
    """What was chosen: a server, or the topics of a worker.

    :param server: URL; None means the topics.
    """

    server: str | None = None
    credentials: Credentials = field(default_factory=Credentials)
    worker: Path | None = None
    bootstrap_servers: str | None = None
    ca_file: Path | None = None

    def connectors(self) -> Connectors:
        """The connectors there.

        :raises ConfigError: the target cannot be understood. :raises RetriableError: see `check_listening`.
        """
        if self.server is None:
            from airflow_kconnect.cli.connectors.over_topics import OverTopics

            return OverTopics(self.worker_props())
        from airflow_kconnect.cli.connectors.over_rest import OverRest

        return OverRest(self.client())

    def client(self) -> RestClient:
        """The server's REST API. Warns if credentials go there unencrypted."""
        from airflow_kconnect.remote.client import RestClient

        assert self.server is not None
        access = Access(self.server, self.credentials, self.ca_file)
        if access.is_exposed:
            typer.echo(f"Warning: your credentials go to {access.url} unencrypted: use https", err=True)
        return RestClient(access)

    def worker_props(self) -> dict[str, str]:
        """The worker's keys, as they were written.

        :raises ConfigError: a server was chosen, or no Kafka is named. :raises RetriableError: see `check_listening`.
        """
        if self.server is not None:
            text = "this needs Kafka, and not a REST API: name the brokers with --bootstrap-servers or --worker"
            raise ConfigError({"--server": [text]})
        props = worker_config(self.worker, self.bootstrap_servers)
        check_listening(props)
        return props


def chosen(
    server: str | None,
    profile: str | None,
    worker: Path | None,
    bootstrap_servers: str | None,
    environment: Mapping[str, str] = os.environ,
) -> Target:
    """The target that options, profile and environment mean. Options win over a profile that was asked for on the
    command line, that over the environment's targets, and those over the environment's profile.

    :param worker, bootstrap_servers: of the command line alone.
    :raises ConfigError: two targets are named, or the profile is wrong.
    """
    options = Profile("", server, worker, bootstrap_servers)
    if server is not None and (worker is not None or bootstrap_servers is not None):
        text = "names another target than --worker or --bootstrap-servers: give one of them"
        raise ConfigError({"--server": [text]})
    if server is not None:
        return _target(options, environment)
    if profile is not None:
        return _target(_over(options, profile_of(profile)), environment)
    here = Profile("", None, _path(environment.get("KCONNECT_WORKER")), environment.get("KCONNECT_BOOTSTRAP_SERVERS"))
    if _names_kafka(options):
        return _target(_over(options, here), environment)
    if environment.get(SERVER):
        return _target(Profile("", environment[SERVER]), environment)
    if not _names_kafka(here) and environment.get(PROFILE):
        return _target(profile_of(environment[PROFILE]), environment)
    return _target(here, environment)


def _over(options: Profile, other: Profile) -> Profile:
    """Options complete or replace what is named elsewhere."""
    if _names_kafka(options) and other.server is not None:
        return options
    servers = options.bootstrap_servers or other.bootstrap_servers
    return replace(other, worker=options.worker or other.worker, bootstrap_servers=servers)


def _names_kafka(profile: Profile) -> bool:
    return profile.worker is not None or profile.bootstrap_servers is not None


def _target(profile: Profile, environment: Mapping[str, str]) -> Target:
    if profile.server is None:
        return Target(worker=profile.worker, bootstrap_servers=profile.bootstrap_servers)
    credentials = profile.credentials or _credentials(environment) or Credentials(token_of(profile.server))
    return Target(profile.server, credentials, ca_file=profile.ca_file)


def _credentials(environment: Mapping[str, str]) -> Credentials:
    """:raises ConfigError: the environment has two logins, or half of one."""
    names = ("KCONNECT_TOKEN", "KCONNECT_USER", "KCONNECT_PASSWORD")
    token, user, password = (environment.get(name) or None for name in names)
    if token and user:
        raise ConfigError({names[0]: ["and KCONNECT_USER are two logins: unset one of them"]})
    if not token and (user is None) != (password is None):
        raise ConfigError({names[1]: ["and KCONNECT_PASSWORD go together: set both"]})
    return Credentials(token) if token else Credentials(None, user, password)


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


__all__ = ["ProfileName", "Server", "Servers", "Target", "WorkerFile", "chosen"]
