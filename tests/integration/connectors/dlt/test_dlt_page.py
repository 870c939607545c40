"""The first example of the dlt source's page writes what the page says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support import unique
from tests.support.kafka import read_all
from tests.support.pages.markdown import blocks
from tests.support.spark.jobs import start_job

PAGE = Path(__file__).parents[4] / "docs/connectors/dlt-source.md"


def test_its_records_are_those_of_the_page(
    worker_props: dict[str, str], bootstrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = {block.info: block.text for block in reversed(blocks(PAGE))}
    module, prefix = unique("shop").replace("-", "_"), f"{unique('shop')}."
    (tmp_path / f"{module}.py").write_text(first["python"])
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    config = json.loads(first["jsonc"])["config"]
    config |= {"name": unique("shop"), "topic.prefix": prefix, "dlt.source": f"{module}:orders"}
    worker = worker_props | {"kconnect.dlt.sources.allowed": module}
    written = []
    for n in range(2):
        job = start_job(config, worker, tmp_path / f"job-{n}")
        assert job.wait() == 0, job.text()
        written.append(job.report()["records"]["written"])
        job.close()
    lines = [f"{(record.key or b'').decode()} {(record.value or b'').decode()}" for record in
             read_all(bootstrap, f"{prefix}orders")]  # fmt: skip
    assert (written, lines) == ([3, 0], first["text"].splitlines())
