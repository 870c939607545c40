"""The plug-in `kconnect.rough`: a source and a sink in Java that misbehave as their key `mode` says."""

from __future__ import annotations

import subprocess
import zipfile
from pathlib import Path

from airflow_kconnect.hosted.libraries import class_path
from airflow_kconnect.machine.java import find_java, java_environment

_SOURCES = Path(__file__).with_name("java") / "kconnect" / "rough"
_MANIFEST = "META-INF/services/org.apache.kafka.connect"


def rough_plugin(folder: Path) -> Path:
    """A folder for `plugin.path` with the compiled plug-in.

    :param folder: empty.
    """
    classes, jar = folder / "classes", folder / "plugins" / "rough" / "rough-1.0.jar"
    java = find_java()
    libraries = ":".join(map(str, class_path(java)))
    files = sorted(map(str, _SOURCES.glob("*.java")))
    javac = java.path.resolve().with_name("javac")
    subprocess.run(
        [str(javac), "-J-XX:TieredStopAtLevel=1", "-proc:none", "-d", str(classes), "-cp", libraries, *files],
        check=True,
        env=java_environment(),
    )
    jar.parent.mkdir(parents=True)
    with zipfile.ZipFile(jar, "w") as archive:
        for compiled in sorted(classes.rglob("*.class")):
            archive.write(compiled, compiled.relative_to(classes))
        archive.writestr(f"{_MANIFEST}.source.SourceConnector", "kconnect.rough.RoughSource\n")
        archive.writestr(f"{_MANIFEST}.sink.SinkConnector", "kconnect.rough.RoughSink\n")
    return folder / "plugins"
