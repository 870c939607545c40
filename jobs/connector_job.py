"""The spark-submit application: ``spark-submit connector_job.py --run <run spec file>``."""

from __future__ import annotations

import sys

from airflow_kconnect.runtime.job import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
