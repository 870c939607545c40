"""What the environment says about reaching Maven Central: proxies, a mirror, custom Ivy settings."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import SplitResult, unquote, urlsplit

from airflow_kconnect.machine.cache import expanded
from airflow_kconnect.machine.errors import SetupError

_DEFAULT_PORTS = {"http": 80, "https": 443}
_CENTRAL = {"central", "*", "external:*"}


def proxy_options(env: Mapping[str, str]) -> list[str]:
    """Java's system properties for the proxies in `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`.

    The result may contain a password: pass it on in a private file, never on a command line.
    """
    options: list[str] = []
    for scheme in ("http", "https"):
        url = _variable(env, f"{scheme}_proxy") or _variable(env, "all_proxy")
        if url:
            options += _proxy_of(scheme, urlsplit(url if "://" in url else f"http://{url}"))
    no_proxy = [host.strip() for host in _variable(env, "no_proxy").split(",") if host.strip()]
    if options and no_proxy:
        hosts = [f"*{host}" if host.startswith(".") else host for host in no_proxy]
        options.append(f"-Dhttp.nonProxyHosts={'|'.join(hosts)}")
    return options


def _proxy_of(scheme: str, proxy: SplitResult) -> list[str]:
    try:
        port = proxy.port or _DEFAULT_PORTS.get(proxy.scheme, 80)
    except ValueError:
        port = None
    if not proxy.hostname or port is None:
        raise SetupError(f"`{scheme}_proxy` names no host and port: expected http://host:port.")
    options = [f"-D{scheme}.proxyHost={proxy.hostname}", f"-D{scheme}.proxyPort={port}"]
    if proxy.username:
        # Java refuses Basic authentication for https through a proxy unless this list is emptied.
        options += [
            f"-Dhttp.proxyUser={unquote(proxy.username)}",
            f"-Dhttp.proxyPassword={unquote(proxy.password or '')}",
            "-Djdk.http.auth.tunneling.disabledSchemes=",
        ]
    return options


def _variable(env: Mapping[str, str], name: str) -> str:
    return env.get(name) or env.get(name.upper()) or ""


def ivy_settings(env: Mapping[str, str]) -> Path | None:
    """The Ivy settings file in `KCONNECT_IVY_SETTINGS`, None if that is not set.

    :raises SetupError: the file does not exist.
    """
    setting = env.get("KCONNECT_IVY_SETTINGS")
    if not setting:
        return None
    path = expanded(setting)
    if not path.is_file():
        raise SetupError(f"`KCONNECT_IVY_SETTINGS` names {path}, which is not a file: correct it or unset it.")
    return path


def _maven_settings() -> Path | None:
    try:
        return expanded("~/.m2/settings.xml")
    except SetupError:
        return None


def maven_mirror(settings: Path | None = None) -> str | None:
    """Address of the Maven Central mirror in Maven's own settings; None if there is none.

    :param settings: Maven's settings file; None means `~/.m2/settings.xml`.
    :raises SetupError: the file is not XML.
    """
    settings = settings or _maven_settings()
    if settings is None or not os.access(settings, os.R_OK):
        return None
    try:
        root = ET.parse(settings).getroot()
    except ET.ParseError as error:
        raise SetupError(f"{settings} is not XML: {error}. Correct it or remove it.") from error
    for mirror in root.iterfind(".//{*}mirror"):
        of = {part.strip() for part in mirror.findtext("{*}mirrorOf", "").split(",")}
        if of & _CENTRAL and "!central" not in of:
            return mirror.findtext("{*}url", "").strip() or None
    return None
