"""Downloads Maven artifacts once, into a user cache; those that are not known with the Ivy that comes with Spark."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.machine import maven, network
from airflow_kconnect.machine.cache import CURE, cache_folder
from airflow_kconnect.machine.errors import SetupError, disk_full, readable_os_errors
from airflow_kconnect.machine.file_lock import locked
from airflow_kconnect.machine.java import Java, java_environment
from airflow_kconnect.machine.spark_home import spark_home

Progress = Callable[[str], None]

_MARKER = ".complete"
_WAITING = "Waiting for another process that is downloading"
# JSON of `Released`, for everything that this package itself requests.
_CHECKSUMS = Path(__file__).with_name("checksums.json")
_SIZE = re.compile(r"\((\d+)kB\)")
# Ivy's messages when it cannot download, the most informative first.
_CAUSES = (r"Server access error|Host .* not found|Authentication|Forbidden", r"^:: .*: not found", r"Exception")


Released = Mapping[str, Mapping[str, str]]
"""Coordinates, joined by blanks -> path of each file in Maven Central -> its SHA-256."""


def resolve(
    coordinates: Sequence[str],
    *,
    java: Java,
    cache: Path | None = None,
    progress: Progress | None = None,
    released: Released | None = None,
) -> Path:
    """The folder with the jars of the given artifacts and all their dependencies; downloads them if necessary.

    Files that are known are downloaded several at once. Ivy looks up all others, and takes over where that fails.

    Safe to call from several processes at once: one downloads, the others wait. A folder that exists is complete.

    :param coordinates: Maven coordinates, `group:artifact:version`; or `group:artifact:packaging:version` or
        `group:artifact:packaging:classifier:version` of a single file, which comes without dependencies.
    :param java: the Java that runs Ivy.
    :param cache: where to keep the jars; None means :func:`cache_folder`.
    :param progress: called with one line of text, several times a second while files arrive.
    :param released: the files that are known; None: of what this package itself requests.
    :raises RetriableError: the download failed or the disk is full.
    :raises SetupError: the cache is not writable, PySpark is not installed, or a jar differs from the released one: the
        SHA-256 of those that this package itself requests is known.
    """
    cache = cache or cache_folder()
    folder = cache / "jars" / _folder_name(coordinates)
    if (folder / _MARKER).is_file():
        return folder
    say = progress or (lambda message: None)
    with readable_os_errors(cache, CURE):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(cache / f".{folder.name}.lock", lambda: say(_WAITING)):
            if not (folder / _MARKER).is_file():
                known = json.loads(_CHECKSUMS.read_text(encoding="utf-8")) if released is None else released
                _download(coordinates, java, cache, folder, known, say)
    return folder


def is_cached(coordinates: Sequence[str]) -> bool:
    """Whether `resolve` would find the artifacts in the cache and download nothing."""
    return (cache_folder() / "jars" / _folder_name(coordinates) / _MARKER).is_file()


def _folder_name(coordinates: Sequence[str]) -> str:
    digest = hashlib.sha256("\n".join(coordinates).encode()).hexdigest()[:8]
    _, artifact, *_, version = coordinates[0].split(":")
    return f"{artifact}-{version}-{digest}"


def _download(
    coordinates: Sequence[str], java: Java, cache: Path, folder: Path, released: Released, say: Progress
) -> None:
    """Download next to the final folder, then rename: a folder that exists is always complete."""
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(folder, ignore_errors=True)
    files = released.get(" ".join(coordinates))
    if files is None or not _fetched(coordinates[0], files, part, say):
        with locked(cache / ".lock", lambda: say(_WAITING)):  # Ivy has one cache for all
            _resolved_by_ivy(coordinates, java, cache, part, released, say)
    (part / _MARKER).write_text("\n".join(coordinates) + "\n")
    part.rename(folder)


def _fetched(name: str, files: Mapping[str, str], part: Path, say: Progress) -> bool:
    """Whether files could be downloaded as they are known. What is wrong, Ivy says better."""
    if network.ivy_settings(os.environ) is not None:
        return False  # they say where files are, in a language of their own
    _emptied(part)

    def told(count: int, size: int) -> None:
        say(f"Downloading {name}: {count} of {len(files)} files, {size / 1e6:.1f} MB")

    try:
        maven.download(maven.address(ivy_jar()), files, part, told)
    except OSError:
        return False
    return True


def _resolved_by_ivy(
    coordinates: Sequence[str], java: Java, cache: Path, part: Path, released: Released, say: Progress
) -> None:
    _emptied(part)
    with tempfile.TemporaryDirectory(prefix="kconnect-ivy-") as work:
        command = _command(Path(work), coordinates, java, cache, part)
        code, output = _run(command, coordinates[0], say)
    if code != 0 or not any(part.iterdir()):
        shutil.rmtree(part, ignore_errors=True)
        raise _failure(coordinates, cache, output)
    if problem := _not_as_released(coordinates, part, released):
        shutil.rmtree(part, ignore_errors=True)
        raise SetupError(
            f"Downloaded for {', '.join(coordinates)}: {problem}. A mirror or proxy has changed it (see"
            f" ~/.m2/settings.xml and HTTPS_PROXY), or the download was damaged. Nothing of it is used."
        )


def _emptied(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()


def _not_as_released(coordinates: Sequence[str], folder: Path, released: Released) -> str | None:
    """What is wrong with downloaded jars; None if nothing is, or if these coordinates are not known."""
    checksums = {jar.name: hashlib.sha256(jar.read_bytes()).hexdigest() for jar in sorted(folder.iterdir())}
    expected = _by_name(released.get(" ".join(coordinates), {}))
    if not expected:
        # Of several that are not known together, the jars that each of them would bring alone; one may replace another.
        each = [_by_name(released.get(one, {})) for one in coordinates]
        expected = {name: sha for files in each for name, sha in files.items() if name in checksums}
        checksums = {name: sha for name, sha in checksums.items() if name in expected}
    if missing := sorted(expected.keys() - checksums.keys()):
        return f"{', '.join(missing)} is missing"
    wrong = [name for name, checksum in checksums.items() if expected.get(name) != checksum]
    return f"{', '.join(wrong)} is not what was released: its SHA-256 is different" if wrong else None


def _by_name(files: Mapping[str, str]) -> dict[str, str]:
    return {path.rpartition("/")[2]: sha for path, sha in files.items()}


def _command(work: Path, coordinates: Sequence[str], java: Java, cache: Path, part: Path) -> list[str]:
    settings = network.ivy_settings(os.environ)
    if settings is None:
        # Of single files not even the POM is needed: its parent may not have been published.
        poms = any(coordinate.count(":") == 2 for coordinate in coordinates)
        settings = _private(work / "ivysettings.xml", _settings_xml(network.maven_mirror(), poms=poms))
    ivy_xml = _private(work / "ivy.xml", _ivy_xml(coordinates))
    options = [f'"{option}"' for option in network.proxy_options(os.environ)]
    arguments = _private(work / "java.args", "\n".join(["-Xmx256m", *options]) + "\n")
    return [
        *(str(java.path), f"@{arguments}", "-jar", str(ivy_jar())),
        # Only then does Ivy say why it could not download.
        "-verbose",
        *("-settings", str(settings), "-cache", str(cache / "ivy"), "-ivy", str(ivy_xml)),
        *("-confs", "default", "-retrieve", f"{part}/[artifact]-[revision](-[classifier]).[ext]"),
    ]


def _private(path: Path, text: str) -> Path:
    path.touch(mode=0o600)
    path.write_text(text)
    return path


def ivy_jar() -> Path:
    """The Ivy jar in Spark's folder, found without importing PySpark.

    :raises SetupError: Spark is not installed, or it comes without Ivy.
    """
    home = spark_home()
    if home is None:
        raise SetupError(
            "Spark was not found, which ships Ivy: pip install 'airflow-kconnect[spark]' or set SPARK_HOME."
        )
    jars = sorted((home / "jars").glob("ivy-*.jar"))
    if not jars:
        raise SetupError(
            f"Spark in {home} has no jars/ivy-*.jar: it is incomplete. Install it again or set SPARK_HOME."
        )
    return jars[-1]


def _settings_xml(mirror: str | None, *, poms: bool = True) -> str:
    root = f" root={quoteattr(mirror)}" if mirror else ""
    root += "" if poms else ' usepoms="false"'
    # Without the two properties Ivy also requests the sources and the javadoc of each artifact.
    return f"""<ivysettings>
  <property name="ivy.maven.lookup.sources" value="false"/>
  <property name="ivy.maven.lookup.javadoc" value="false"/>
  <settings defaultResolver="central"/>
  <timeout-constraints>
    <timeout-constraint name="patient" connectionTimeout="10000" readTimeout="60000"/>
  </timeout-constraints>
  <resolvers><ibiblio name="central" m2compatible="true" timeoutConstraint="patient"{root}/></resolvers>
</ivysettings>
"""


def _ivy_xml(coordinates: Sequence[str]) -> str:
    lines = []
    for coordinate in coordinates:
        group, artifact, *file, version = (quoteattr(part) for part in coordinate.split(":"))
        if file:
            packaging, *rest = file
            classifier = f" e:classifier={rest[0]}" if rest else ""
            only = f"<artifact name={artifact} type={packaging} ext={packaging}{classifier}/>"
            lines.append(
                f'<dependency org={group} name={artifact} rev={version} transitive="false">{only}</dependency>'
            )
        else:
            lines.append(f'<dependency org={group} name={artifact} rev={version} conf="default->default"/>')
    return f"""<ivy-module version="2.0" xmlns:e="http://ant.apache.org/ivy/extra">
  <info organisation="airflow_kconnect" module="local"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>{"".join(lines)}</dependencies>
</ivy-module>
"""


@dataclass
class _Tally:
    """Counts the artifacts that Ivy reports as found and downloaded."""

    name: str
    files: int = 0
    jars: int = 0
    size_kb: int = 0

    def add(self, line: str) -> None:
        self.files += line.startswith("found ")
        self.jars += line.startswith("downloading ") and (".jar" in line or ".tar.gz" in line)
        self.size_kb += sum(int(size) for size in _SIZE.findall(line))

    def __str__(self) -> str:
        if not self.jars:
            return f"Looking up what {self.name} needs: {self.files} files"
        return f"Downloading {self.name}: {self.jars} of {self.files} files, {self.size_kb / 1000:.1f} MB"


def _run(command: list[str], name: str, say: Progress) -> tuple[int, list[str]]:
    """Run Ivy; its output is its only sign of life, so it is read line by line."""
    output: list[str] = []
    tally = _Tally(name)
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=java_environment(),
    ) as ivy:
        assert ivy.stdout is not None
        for line in map(str.strip, ivy.stdout):
            output.append(line)
            tally.add(line)
            say(str(tally))
    return ivy.returncode, output


def _failure(coordinates: Sequence[str], cache: Path, output: Sequence[str]) -> RetriableError:
    if any("No space left on device" in line for line in output):
        return disk_full(cache)
    telling = (line for cause in _CAUSES for line in output if re.search(cause, line))
    cause = next(telling, output[-1] if output else "Ivy said nothing")
    return RetriableError(
        f"Cannot download {', '.join(coordinates)} into {cache}: {cause}. Check the network and the proxy settings "
        "(HTTPS_PROXY, ~/.m2/settings.xml), or set KCONNECT_CACHE to a cache folder filled on another machine."
    )
