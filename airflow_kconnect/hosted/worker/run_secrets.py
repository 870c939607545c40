"""Hands the secrets of a run to its JVM, for `RunSecrets.java`, and takes them back."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping

from airflow_kconnect.hosted.jvm.gateway import HostGateway, JavaEnded

CLASS = "airflow_kconnect.RunSecrets"
"""The config provider that has them."""


@contextlib.contextmanager
def lent(jvm: HostGateway, secrets: Mapping[str, str]) -> Iterator[None]:
    """The JVM knows them within this context.

    :param secrets: by their names, see `worker_keys.handed_over`.
    """
    jvm.call("handing over secrets", lambda: jvm.view.airflow_kconnect.RunSecrets.put(jvm.text_map(secrets)))
    try:
        yield
    finally:
        with contextlib.suppress(JavaEnded):  # they have ended with it
            names = jvm.call("taking back secrets", lambda: jvm.text_map(dict.fromkeys(secrets, "")).keySet())
            jvm.call("taking back secrets", lambda: jvm.view.airflow_kconnect.RunSecrets.remove(names))
