"""Stand-ins for services of AWS: their forms of answers, and the connections with which an operator reaches them."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from airflow.providers.amazon.aws.hooks.base_aws import AwsGenericHook
from airflow.sdk import Connection
from botocore.loaders import JSONFileLoader, Loader

from airflow_kconnect.hooks.services.base import ServiceJob, SparkService
from airflow_kconnect.hooks.services.registry import open_service
from tests.support.http_server import Answer, HttpServer, Request, http_server
from tests.support.spark.services import JobRunner
from tests.support.stores import Store

_read_model = functools.cache(JSONFileLoader().load_file)


class _KeptModels(JSONFileLoader):  # type: ignore[misc]
    """Each client of the provider's hook would read botocore's model of its service once more."""

    def load_file(self, file_path: str) -> Any:
        return _read_model(file_path)


Loader.FILE_LOADER_CLASS = _KeptModels
# A client would also look three times through all frames of pytest for the operator that it works for.
AwsGenericHook._find_operator_class_name = staticmethod(lambda _name: None)  # type: ignore[assignment]
AwsGenericHook._find_executor_class_name = staticmethod(lambda: None)  # type: ignore[method-assign]

ROLE = "arn:aws:iam::123456789012:role/job"


@contextmanager
def served(runner: JobRunner, answer: Callable[[Request], Answer]) -> Iterator[HttpServer]:
    """A server whose jobs the runner runs."""
    with http_server(answer=answer) as server:
        try:
            yield server
        finally:
            runner.end()


def told(value: Any) -> Answer:
    """An answer in JSON."""
    return Answer(200, {"Content-Type": "application/json"}, json.dumps(value).encode())


def refused(status: int, code: str, text: str) -> Answer:
    """An error of AWS."""
    body = json.dumps({"__type": code, "message": text}).encode()
    return Answer(status, {"x-amzn-ErrorType": code, "Content-Type": "application/json"}, body)


def use_service(patch: pytest.MonkeyPatch, bucket: Store, host: str, service: str, url: str, **extra: str) -> None:
    """Make `spark_default` name a service of AWS, which the client of its hook finds at a URL."""
    keys = bucket.settings
    services = {service: {"endpoint_url": url}, "s3": {"endpoint_url": keys["store.endpoint"]}}
    login = {"login": keys["store.access.key.id"], "password": keys["store.secret.access.key"]}
    aws = {"conn_type": "aws", **login, "extra": {"region_name": "us-east-1", "service_config": services}}
    spark = {"conn_type": "spark", "host": host, "extra": {"staging": f"{bucket.address}/kconnect", **extra}}
    patch.setenv("AIRFLOW_CONN_AWS_DEFAULT", json.dumps(aws))
    patch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(spark))
    patch.setattr("airflow_kconnect.operators.tracking._SERVICE_POLL_S", 1)


def open_at(connection: Any, url: str, host: str, service: str, **extra: Any) -> SparkService:
    """A service of AWS whose client finds it at a URL. :param connection: the fixture. :param service: for boto3."""
    login = {"login": "key", "password": "s3cr3t"}
    endpoints = {service: {"endpoint_url": url}}
    once = {"retries": {"total_max_attempts": 1}}  # otherwise boto3 waits for a server that has failed
    settings = {"region_name": "us-east-1", "service_config": endpoints, "config_kwargs": once}
    connection("aws_default", conn_type="aws", **login, extra=settings)
    given = {"staging": "s3://bucket/kconnect", **extra}
    return open_service(Connection(conn_id="spark", conn_type="spark", host=host, extra=json.dumps(given)), "spark")


JOB = ServiceJob(
    name="kconnect: orders",
    request="0123456789abcdef0123456789abcdef",
    application="s3://bucket/kconnect/library/1/connector_job.py",
    arguments=("--run", "s3://bucket/kconnect/runs/1"),
    conf={"spark.executor.memory": "2g", "spark.app.words": "two words"},
    py_files=("s3://bucket/kconnect/library/2/airflow_kconnect.zip",),
)
"""A job to start."""
