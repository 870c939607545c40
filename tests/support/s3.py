"""A real S3-compatible server for tests: S3Proxy, in a JVM of its own, with its objects as files in a folder."""

from __future__ import annotations

import secrets
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.machine.java import find_java
from tests.support import unique
from tests.support.databases.servers import Owner, end, wait_until_up
from tests.support.jars import jars

_COORDINATES = "org.gaul:s3proxy:2.6.0"
_OPTIONS = ("-Xmx192m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
# Without it everything is logged, which takes most of the server's time.
_LOGGING = """<configuration>
  <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
    <encoder><pattern>%d %level %msg%n</pattern></encoder>
  </appender>
  <root level="WARN"><appender-ref ref="out"/></root>
</configuration>
"""


class S3Server:
    """Requests must be signed with its key. Use `remove` when it is not needed any more.

    :param folder: for its configuration, its log and the buckets.
    :raises RuntimeError: it does not start.
    """

    def __init__(self, folder: Path) -> None:
        self._buckets = folder / "buckets"
        self._buckets.mkdir()
        self.access_key, self.secret_key = "kconnect-tests", secrets.token_urlsafe(24)
        self.url = f"http://{LOOPBACK}:{free_port()}"
        settings = folder / "s3proxy.conf"
        settings.touch(mode=0o600)
        settings.write_text(
            "s3proxy.authorization=aws-v2-or-v4\n"
            f"s3proxy.endpoint={self.url}\n"
            f"s3proxy.identity={self.access_key}\n"
            f"s3proxy.credential={self.secret_key}\n"
            "jclouds.provider=filesystem-nio2\n"
            "jclouds.identity=none\n"
            "jclouds.credential=none\n"
            f"jclouds.filesystem.basedir={self._buckets}\n"
        )
        (logging := folder / "logback.xml").write_text(_LOGGING)
        java, log = find_java(), folder / "s3proxy.log"
        classes = f"{jars(_COORDINATES)}/*"
        command: list[str | Path] = [
            java.path,
            *_OPTIONS,
            f"-Dlogback.configurationFile={logging}",
            "-cp",
            classes,
            "org.gaul.s3proxy.Main",
            "--properties",
            settings,
        ]
        self._process: subprocess.Popen[bytes] = Owner(None).spawn(command, log, signal.SIGTERM)
        wait_until_up(self._process, log, self._answers)

    def create_bucket(self, name: str = "") -> str:
        """A new bucket; the server takes each folder for one."""
        name = name or unique("bucket")
        (self._buckets / name).mkdir()
        return name

    def file_of(self, uri: str) -> Path:
        """The file of an object, `s3://bucket/key`."""
        return self._buckets / uri.removeprefix("s3://")

    def remove(self) -> None:
        """End it."""
        end(self._process, signal.SIGTERM)

    def _answers(self) -> None:
        try:
            urllib.request.urlopen(self.url, timeout=5).close()
        except urllib.error.HTTPError as error:
            assert error.code == 403, error  # without a signature
