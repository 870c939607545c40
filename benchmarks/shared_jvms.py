"""``python -m benchmarks.shared_jvms``: Java connectors of a group in one JVM, and in one each."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Annotated

import psutil
import typer

from benchmarks import environment, results
from benchmarks.files import SOURCE, write_lines
from benchmarks.measure import Say
from benchmarks.settings import STRING, our_worker
from benchmarks.topics import Topics
from tests.support.connect.hosted import FILE, plugin_folder

app = typer.Typer(add_completion=False)

_LOOK_S = 0.2
Figures = dict[str, float]


@app.command()
def main(
    connectors: Annotated[int, typer.Option(help="File sources, all of Kafka's own class.")] = 5,
    lines: Annotated[int, typer.Option(help="Lines of 200 bytes of each.")] = 1000,
    passes: Annotated[int, typer.Option(help="Passes of each, in turns.")] = 3,
    output: Annotated[Path, typer.Option(help="Results go to this JSON file.")] = results.FOLDER / "shared_jvms.json",
) -> None:
    """Print seconds, CPU seconds and peak memory of `kconnect run` for all of them."""
    say = environment.console()
    found: dict[str, list[Figures]] = {"shared": [], "own": []}
    with environment.broker(say) as place:
        group = _Group(place.bootstrap, place.folder, connectors, lines)
        for turn in range(passes):
            for side in found:
                found[side].append(group.run(f"{side}-{turn}", own=side == "own", say=say))
    results.write(output, [], facts={"connectors": str(connectors), "lines": f"{lines:,}"}, jvms=found)
    say(f"Results: {output}")


class _Group:
    def __init__(self, bootstrap: str, folder: Path, connectors: int, lines: int) -> None:
        self._folder, self._connectors, self._topics = folder, connectors, Topics(bootstrap)
        self._source = write_lines(folder / "shared.txt", lines)
        plugins = plugin_folder(folder / "plugins", FILE)
        self._worker = folder / "worker.properties"
        keys = {**our_worker(bootstrap), "plugin.path": str(plugins)}
        self._worker.write_text("".join(f"{key}={value}\n" for key, value in keys.items()))

    def run(self, name: str, *, own: bool, say: Say) -> Figures:
        """One job with all connectors."""
        files = [str(self._config(f"{name}-{n}", own)) for n in range(self._connectors)]
        command = [sys.executable, "-m", "airflow_kconnect.cli", "run", *files, "--worker", str(self._worker)]
        log = self._folder / f"{name}.log"
        began = time.monotonic()
        with log.open("w") as out:
            process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
            watch = _Watch(process.pid)
            watch.start()
            _, status, used = os.wait4(process.pid, 0)  # with all that it has started and waited for
            took = time.monotonic() - began
            watch.join()
        if status:
            raise RuntimeError(f"{' '.join(command)} ended with status {status}: {log.read_text()[-2000:]}")
        figures = {"s": took, "CPU s": used.ru_utime + used.ru_stime, "MB at most": watch.peak_mb}
        say(f"{name}: " + ", ".join(f"{value:.1f} {what}" for what, value in figures.items()))
        return figures

    def _config(self, name: str, own: bool) -> Path:
        config = {
            **{"name": name, "connector.class": SOURCE, "file": str(self._source), "value.converter": STRING},
            **{"topic": self._topics.create(name), "kconnect.hosted": "true", "kconnect.hosted.idle.ms": "1000"},
            "kconnect.hosted.own.jvm": str(own).lower(),
        }
        file = self._folder / f"{name}.json"
        file.write_text(json.dumps(config))
        return file


class _Watch(threading.Thread):
    """The memory of a process and those that it has started."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self._process = psutil.Process(pid)
        self.peak_mb = 0.0

    def run(self) -> None:
        """Look until it has ended."""
        while self._process.is_running():
            with contextlib.suppress(psutil.Error):  # one has ended meanwhile
                family = (self._process, *self._process.children(recursive=True))
                self.peak_mb = max(self.peak_mb, sum(each.memory_full_info().pss for each in family) / 2**20)
            time.sleep(_LOOK_S)


if __name__ == "__main__":
    app()
