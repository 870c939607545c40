"""PySpark's archive with compiled modules: `python -m tests.support.spark.compiled_pyspark`, which `make setup` does.

Python keeps nothing that it has compiled from an archive. Each job imports a hundred modules from this one, twice: in
its driver and in the process that its workers come from: 1.7 CPU seconds of the 13 that an empty job takes.
"""

from __future__ import annotations

import py_compile
import tempfile
import zipfile
from pathlib import Path

from airflow_kconnect.machine.spark_home import ARCHIVE, spark_home


def compile_archive(archive: Path) -> int:
    """Add the compiled form of each module to an archive, next to its source; the number of those added.

    Processes that have the archive open keep the old one, since it is replaced as a whole.
    """
    with tempfile.TemporaryDirectory(dir=archive.parent) as work:
        part = Path(work, archive.name)
        with zipfile.ZipFile(archive) as old, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as new:
            sources = {name: old.read(name) for name in old.namelist()}
            missing = [name for name in sources if _is_imported(name) and f"{name}c" not in sources]
            for info, data in zip(old.infolist(), sources.values(), strict=True):
                new.writestr(info, data)
            for name in missing:
                new.writestr(f"{name}c", _compiled(sources[name], str(archive / name), Path(work)))
        part.replace(archive)
    return len(missing)


def _is_imported(name: str) -> bool:
    return name.endswith(".py") and "/tests/" not in name


def _compiled(source: bytes, name: str, work: Path) -> bytes:
    """Without the time of the source, which an archive has only to two seconds."""
    file, target = work / "module.py", work / "module.pyc"
    file.write_bytes(source)
    unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(file), str(target), dfile=name, doraise=True, invalidation_mode=unchecked)
    return target.read_bytes()


if __name__ == "__main__":
    home = spark_home()
    if home is not None:
        compile_archive(home / ARCHIVE)
