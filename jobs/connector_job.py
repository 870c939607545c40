"""The spark-submit application: ``spark-submit connector_job.py --run <run spec file>``."""

from __future__ import annotations

import sys

from airflow_kconnect.machine.spark_home import use_unpacked_pyspark

if __name__ == "__main__":
    use_unpacked_pyspark(unpack=True)
    from airflow_kconnect.runtime.job import main

    sys.exit(main(sys.argv[1:]))
