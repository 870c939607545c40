"""Servers of the Connectors page, each with internal topics of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from airflow_kconnect.control.overview.watch import watch_of
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from tests.support.control import control_plane, control_worker
from tests.support.pages.connectors_page import served
from tests.support.registered import Registered, WorkerTopics


@dataclass(frozen=True)
class PageServer:
    """:param url: of the page. :param props: keys of its worker."""

    url: str
    plane: ControlPlane
    topics: WorkerTopics
    props: Mapping[str, str]

    def add(self, *connectors: Registered) -> None:
        """Connectors as runs and users have left them, also if they were there before. The server knows them then."""
        self.topics.add(*connectors)
        watch_of(self.plane).refresh()


@contextmanager
def page_server(bootstrap: str, **more: str) -> Iterator[PageServer]:
    """A server without any connector. :param more: keys of its worker."""
    props = control_worker(bootstrap, **more)
    topics = WorkerTopics(bootstrap, props)
    with control_plane(props) as plane, served(create_app(lambda: plane, TokenPolicy(None))) as url:
        yield PageServer(f"{url}/ui/", plane, topics, props)
