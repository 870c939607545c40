"""The REST server of a worker that is one of several: for what Connect's workers ask each other, and nothing else.

A worker asks the leader of its group to store the configurations of tasks, and to fence their predecessors. These two
requests are signed with the key of the group's session, which is in its config topic. There are no other endpoints: the
server is that of MirrorMaker, which hosts Connect's workers in the same way.
"""

from __future__ import annotations

from typing import Any

from airflow_kconnect.hosted.jvm.gateway import HostGateway

_NAMESPACE = ("kconnect", "hosted")


class InternalRest:
    """One server in a JVM. It listens on a free port as soon as it is made.

    :param bind: the address to listen on.
    :param host: the name or address by which the other workers reach it.
    """

    def __init__(self, jvm: HostGateway, client: Any, *, bind: str, host: str) -> None:
        self._jvm = jvm
        listener = f"http://[{bind}]:0" if ":" in bind else f"http://{bind}:0"
        texts = jvm.text_map({"listeners": listener, "rest.advertised.host.name": host})
        self._server = self._mirror.rest.MirrorRestServer(texts, client)
        self._server.initializeServer()

    @property
    def namespace(self) -> Any:
        """What the paths of its endpoints begin with: a `java.util.List`."""
        java = self._jvm.view.java.util.ArrayList()
        for part in _NAMESPACE:
            java.add(part)
        return java

    def url(self) -> str:
        """Where the other workers reach it."""
        return str(self._server.advertisedUrl().toString())

    def serve(self, herder: Any) -> None:
        """Answer requests from now on."""
        herders = self._jvm.view.java.util.HashMap()
        herders.put(self._mirror.SourceAndTarget(*_NAMESPACE), herder)
        self._server.initializeInternalResources(herders)

    @property
    def _mirror(self) -> Any:
        return self._jvm.view.org.apache.kafka.connect.mirror
