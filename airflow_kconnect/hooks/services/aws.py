"""What the services of AWS have in common: the login by Airflow's hook, and errors of AWS as ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

from airflow_kconnect.connect.errors import ConfigError, in_one_line
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError
from airflow_kconnect.hooks.services.asked import AskedService, RefusedRequestError
from airflow_kconnect.hooks.services.base import ServiceExtras, missing_package

_REFUSALS = (
    *("ValidationException", "InvalidRequestException", "ConflictException", "ResourceNotFoundException"),
    *("AccessDeniedException", "AccessDenied", "UnrecognizedClientException", "InvalidSignatureException"),
)


class AwsExtras(ServiceExtras):
    """Extras of the Spark connection of any service of AWS.

    :param aws_conn_id: Airflow connection with the worker's login; its provider's default if not given.
    """

    aws_conn_id: str = "aws_default"


class JobRunExtras(AwsExtras):
    """Extras of services whose jobs are job runs.

    :param execution_role_arn: the role of the job.
    :param log_uri: folder of S3 into which EMR copies the logs of jobs.
    :param tags: of each job run.
    """

    execution_role_arn: str
    log_uri: str | None = None
    tags: dict[str, str] = {}

    def overrides(self, properties: Mapping[str, str]) -> dict[str, Any]:
        """The settings of a job run. As properties, and not as options of spark-submit, they need no quotes."""
        defaults = {"classification": "spark-defaults", "properties": dict(properties)}
        logs = {"monitoringConfiguration": {"s3MonitoringConfiguration": {"logUri": self.log_uri}}}
        return {"applicationConfiguration": [defaults]} | (logs if self.log_uri else {})

    def log(self, folder: str) -> str | None:
        """The address of a folder with logs; None if EMR copies none."""
        return f"{self.log_uri.rstrip('/')}/{folder}/" if self.log_uri else None


class AwsService(AskedService):
    """A service of AWS, asked by a hook of Airflow's provider."""

    package: ClassVar[str] = "apache-airflow-providers-amazon"
    hook_class: ClassVar[str]
    """In the provider's module about EMR."""
    form: ClassVar[re.Pattern[str]]
    """Of the address: an id."""
    named: ClassVar[str]
    """What the address is the id of."""
    example: ClassVar[str] = ""
    unknown: ClassVar[str] = "ResourceNotFoundException"
    """The code with which AWS answers if there is no such job."""
    extras_class: ClassVar[type[ServiceExtras]] = AwsExtras

    @property
    def staging_conn_id(self) -> str | None:
        return super().staging_conn_id or str(self.extras.aws_conn_id)

    def check(self) -> None:
        if not self.form.fullmatch(self.address):
            such_as = f", such as {self.scheme}://{self.example}" if self.example else ""
            text = f"names no {self.named} of {self.title}: {self.scheme}://{self.address}, expected its id{such_as}"
            raise ConfigError({"spark_conn_id": [text]})

    def _new_client(self) -> Any:
        return self._hook().conn

    def _hook(self, **parameters: Any) -> Any:
        try:
            from airflow.providers.amazon.aws.hooks import emr
        except ImportError as error:
            raise missing_package(type(self)) from error
        return getattr(emr, self.hook_class)(aws_conn_id=self.extras.aws_conn_id, **parameters)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of AWS become ours."""
        try:
            from botocore.exceptions import BotoCoreError, ClientError
        except ImportError as error:
            raise missing_package(type(self)) from error
        try:
            yield
        except (BotoCoreError, ClientError) as error:
            raise self._ours(error) from error

    def _ours(self, error: Exception) -> Exception:
        from botocore import exceptions as aws

        match error:
            case aws.ClientError():
                code = str(error.response.get("Error", {}).get("Code", ""))
                if code in _REFUSALS:
                    return RefusedRequestError(f"{self.title} refuses: {in_one_line(error)}", gone=code == self.unknown)
            case aws.ParamValidationError():
                return ConfigError({"spark_conn_id": [" ".join(str(error).split())]})
            case aws.NoRegionError() | aws.NoCredentialsError() | aws.PartialCredentialsError() | aws.ProfileNotFound():
                text = f"Airflow connection `{self.extras.aws_conn_id}`: {in_one_line(error)}"
                return ConfigError({"aws_conn_id": [text]})
        return ClusterManagerUnavailableError(f"{self.title} does not answer: {in_one_line(error)}")
