"""Where the name nodes of an address listen for HTTP, by the files that Hadoop's own programs read."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

from airflow_kconnect.connect.errors import ConfigError

_HTTP, _HTTPS = "9870", "9871"
"""Ports of name nodes that say nothing else, since Hadoop 3."""
_FOLDER = "HADOOP_CONF_DIR"


def endpoints(root: str) -> tuple[str, ...]:
    """The URLs of the name nodes of ``host:port``, or of a name service that is in `hdfs-site.xml`.

    :raises ConfigError: a file of `HADOOP_CONF_DIR` cannot be read, or has no address of a name service's name nodes.
    """
    host, _, _ = root.partition(":")
    site = _site(os.environ.get(_FOLDER, ""))
    names = [name.strip() for name in site.get(f"dfs.ha.namenodes.{root}", "").split(",") if name.strip()]
    secure = site.get("dfs.http.policy", "").upper() == "HTTPS_ONLY"
    scheme, port = ("https", _HTTPS) if secure else ("http", _HTTP)
    if names:
        found = [_of_service(site, f"{root}.{name}", scheme, port) for name in names]
        if not any(found):
            text = f"`{_FOLDER}` has no address of its name nodes: set `store.endpoint`"
            raise ConfigError({"directory": [f"names the name service {root}, and {text}"]})
        return tuple(url for url in found if url)
    said = site.get(f"dfs.namenode.{scheme}-address", "")
    # What this machine's file says is about its own cluster, which may be another one.
    if said.partition(":")[0] == host:
        port = said.partition(":")[2] or port
    return (f"{scheme}://{host}:{port}",)


def _of_service(site: Mapping[str, str], name: str, scheme: str, port: str) -> str | None:
    if address := site.get(f"dfs.namenode.{scheme}-address.{name}"):
        return f"{scheme}://{address}"
    host = site.get(f"dfs.namenode.rpc-address.{name}", "").partition(":")[0]
    return f"{scheme}://{host}:{port}" if host else None


def _site(folder: str) -> dict[str, str]:
    path = Path(folder, "hdfs-site.xml")
    if not folder or not path.is_file():
        return {}
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError) as error:
        raise ConfigError({"directory": [f"cannot read {path}, which `{_FOLDER}` names: {error}"]}) from error
    entries = ((each.findtext("name", ""), each.findtext("value", "")) for each in root.iter("property"))
    return {name.strip(): value.strip() for name, value in entries}
