"""`python -m airflow_kconnect.cli`: the `kconnect` command where its script is not on PATH."""

from __future__ import annotations

from airflow_kconnect.cli import app

if __name__ == "__main__":
    app(prog_name="kconnect")
