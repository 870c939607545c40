"""What belongs into a plug-in's folder: its jars, without those that Connect's runtime has itself."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.plugins.java import JavaPlugin, JavaPlugins
from airflow_kconnect.plugins.java.jars import BrokenJar, open_jar
from airflow_kconnect.plugins.java.kinds import KINDS

SERVICES_JAR = "kconnect-services.jar"
"""Names the classes of a plug-in that does not do so itself."""

# What Connect's own class loader has for each plug-in: in its folder they would be dead weight, and their manifests
# would list converters and transformations of Connect a second time.
_PROVIDED = re.compile(
    r"(kafka-clients|connect-(api|json|transforms|runtime|basic-auth-extension)|slf4j-(api|simple|log4j12|reload4j|nop)"
    r"|log4j-slf4j2?-impl|logback-classic)-\d.*"
)


# Their classes are in the signatures of Connect's: a plug-in with its own would have others. Vendors leave them out of
# their archives, too; as dependencies of an artifact they come along.
_IN_SIGNATURES = re.compile(r"(jackson-(annotations|core|databind)|jakarta\.ws\.rs-api|javax\.ws\.rs-api)-\d.*")


def resolved(jars: Iterable[Path]) -> list[Path]:
    """Of the jars of an artifact and its dependencies those that belong into its folder, sorted by name."""
    return [jar for jar in wanted(jars) if not _IN_SIGNATURES.fullmatch(jar.name)]


def wanted(jars: Iterable[Path]) -> list[Path]:
    """The jars without those that Connect provides, sorted by name."""
    return sorted((jar for jar in jars if not _PROVIDED.fullmatch(jar.name)), key=lambda jar: jar.name)


def check(folder: Path, subject: str) -> list[JavaPlugin]:
    """The plug-ins in a folder that is to be installed; if it does not name them, a jar that does so is added.

    :param folder: the plug-in's folder, not yet below a `plugin.path`.
    :param subject: what was given, for messages.
    :raises SetupError: a jar is broken, or there is no plug-in.
    """
    jars = sorted(folder.rglob("*.jar"))
    if not jars:
        raise SetupError(
            f"{subject} has no jars: expected the folder or the archive of a plug-in, as its vendor publishes it."
        )
    for jar in jars:
        try:
            open_jar(jar)
        except BrokenJar as error:
            raise SetupError(f"{subject} is damaged: {error}. Download it again.") from error
    index = JavaPlugins([folder.parent])
    if not (mine := [plugin for plugin in index.all() or index.guessed() if plugin.folder == folder]):
        raise SetupError(
            f"{subject} has no plug-in: none of its {len(jars)} jars has a connector, converter or transformation."
        )
    if not all(plugin.has_manifest for plugin in mine):
        write_services(folder, mine)
        return check(folder, subject)
    return mine


def write_services(folder: Path, plugins: Iterable[JavaPlugin]) -> None:
    """Add a jar that names the classes of a plug-in which names none itself, as Kafka's `connect-plugin-path
    sync-manifests` does: else Connect would have to look at all classes, which takes a minute.

    :param folder: of the plug-in.
    """
    services: dict[str, list[str]] = {}
    for plugin in plugins:
        interface = next(name for name, kind in KINDS.items() if kind == plugin.kind)
        services.setdefault(f"META-INF/services/{interface}", []).append(plugin.name)
    with zipfile.ZipFile(folder / SERVICES_JAR, "w") as jar:
        for file, names in services.items():
            jar.writestr(file, "".join(f"{name}\n" for name in sorted(names)))


def own(plugins: Sequence[JavaPlugin], name: str) -> JavaPlugin:
    """The plug-in after which a folder is named: whose jar begins with this name, else a connector, else the first."""
    by_name = [plugin for plugin in plugins if plugin.jar.name.startswith(name)]
    connectors = [plugin for plugin in plugins if plugin.kind in ("source", "sink")]
    return (by_name or connectors or list(plugins))[0]
