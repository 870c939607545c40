"""Spark jobs through Apache Livy: batches of its REST API, on the cluster that it submits to."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from importlib import import_module
from typing import Any, ClassVar, Literal

from airflow_kconnect.connect.errors import ConfigError, in_one_line
from airflow_kconnect.connect.printable import printable
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome, JobStatus
from airflow_kconnect.hooks.services.asked import AskedService, RefusedRequestError
from airflow_kconnect.hooks.services.base import ServiceExtras, ServiceJob, missing_package
from airflow_kconnect.runs.events import EVENT_PREFIX

_CONN_ID = re.compile(r"[\w.-]+")
_OUTCOMES = {
    "success": JobOutcome.SUCCEEDED,
    "dead": JobOutcome.FAILED,
    "error": JobOutcome.FAILED,
    "killed": JobOutcome.KILLED,
}
_TIMEOUT_S = 60
# Livy with `livy.server.csrf-protection.enabled` wants it for each request that changes something.
_HEADERS = {"X-Requested-By": "airflow-kconnect"}
# Lines of a batch's log that do not say why it has failed.
_NO_REASONS = ("stdout:", "stderr:", "YARN Diagnostics:", "Kubernetes Diagnostics:", EVENT_PREFIX)
_TOO_MANY = "too many sessions"


class LivyExtras(ServiceExtras):
    """Extras of its Spark connection.

    :param auth_type: ``basic``, with the login of Livy's connection, if it has one; or ``kerberos``, with a ticket of
        the worker.
    :param endpoint_prefix: what a gateway wants in front of ``/batches``.
    :param run_as: as whom the job runs, Livy's ``proxyUser``. Of an extra with ``proxy`` in its name Airflow would mask
        the value, a user's name, in all logs.
    :param queue: of YARN.
    """

    auth_type: Literal["basic", "kerberos"] = "basic"
    endpoint_prefix: str | None = None
    run_as: str | None = None
    queue: str | None = None


class Livy(AskedService):
    """A server of Apache Livy: host ``livy://<id of Airflow's connection to it>``, of type ``livy``."""

    scheme: ClassVar[str] = "livy"
    title: ClassVar[str] = "Livy"
    package: ClassVar[str] = "apache-airflow-providers-apache-livy"
    extras_class: ClassVar[type[ServiceExtras]] = LivyExtras
    extras: LivyExtras

    def check(self) -> None:
        if not _CONN_ID.fullmatch(self.address):
            text = f"livy://{self.address}: expected the id of an Airflow connection to Livy, like livy://livy_default"
            raise _wrong(text)

    def _start(self, job: ServiceJob) -> str:
        body = self._client.build_post_batch_body(
            file=job.application,
            args=job.arguments,
            py_files=list(job.py_files),
            files=list(job.files),
            jars=list(job.jars),
            archives=list(job.archives),
            conf=dict(job.conf),
            # Livy refuses the name of another batch that it still knows.
            name=f"{job.name} {job.request[:8]}",
            proxy_user=self.extras.run_as,
            queue=self.extras.queue,
        )
        return str(self._answer("id", "POST", "/batches", json.dumps(body))["id"])

    def _describe(self, job_id: str) -> JobStatus:
        batch = self._answer("state", "GET", f"/batches/{job_id}")
        state = str(batch["state"])
        outcome = _OUTCOMES.get(state)
        reason = _last_line(batch.get("log") or ()) if outcome is JobOutcome.FAILED else ""
        log = (batch.get("appInfo") or {}).get("driverLogUrl")
        page = f"{self._client.base_url}{self._client.endpoint_prefix}/ui/batch/{job_id}/log"
        return JobStatus(state, outcome, reason=reason, log=str(log or page))

    def _cancel(self, job_id: str) -> None:
        # With a batch Livy deletes its log: what has ended is left to it.
        if self.status(job_id).outcome is None:
            with suppress(RefusedRequestError):  # it is gone by now
                self._answer("msg", "DELETE", f"/batches/{job_id}")

    def _new_client(self) -> Any:
        try:
            from airflow.providers.apache.livy.hooks.livy import LivyHook
        except ImportError as error:
            raise missing_package(type(self)) from error
        from airflow.providers.common.compat.sdk import AirflowNotFoundException

        try:
            timeout = LivyHook.get_connection(self.address).extra_dejson.get("timeout", _TIMEOUT_S)
        except AirflowNotFoundException:
            create = f"airflow connections add {self.address} --conn-type livy --conn-host http://livy.example.com:8998"
            raise _wrong(f"the connection `{self.address}` to Livy does not exist. Create it: {create}") from None
        return LivyHook(
            livy_conn_id=self.address,
            extra_options={"check_response": False, "timeout": timeout},
            extra_headers=_HEADERS,
            auth_type=_kerberos() if self.extras.auth_type == "kerberos" else None,
            endpoint_prefix=self.extras.endpoint_prefix,
        )

    def _answer(self, wanted: str, method: str, endpoint: str, data: str | None = None) -> dict[str, Any]:
        """What Livy answers to a request, with the member that is wanted; errors become ours."""
        from requests.exceptions import InvalidSchema, InvalidURL, MissingSchema, RequestException

        hook = self._client
        try:
            response = hook.run_method(f"{hook.endpoint_prefix}{endpoint}", method, data, hook.extra_headers)
            content = response.json() if "json" in response.headers.get("Content-Type", "") else None
        except (InvalidSchema, InvalidURL, MissingSchema) as error:
            text = f"the connection `{self.address}` to Livy has a host that is not an address: {in_one_line(error)}"
            raise _wrong(text) from error
        except RequestException as error:
            raise ClusterManagerUnavailableError(f"Livy does not answer: {in_one_line(error)}") from error
        said = f"{response.status_code} {response.reason}: {_message(content)}".removesuffix(": ")
        if response.status_code == 404:
            raise RefusedRequestError(f"Livy does not have what was asked for: {said}", gone=True)
        if response.status_code in (401, 403):
            raise _wrong(f"Livy refuses the login of the connection `{self.address}`: {said}")
        if 400 <= response.status_code < 500 and response.status_code != 429 and _TOO_MANY not in said:
            raise _wrong(f"Livy refuses: {said}")
        if response.status_code >= 400 or not isinstance(content, dict) or wanted not in content:
            raise ClusterManagerUnavailableError(f"Livy does not answer: {said}")
        return content


def _wrong(text: str) -> ConfigError:
    return ConfigError({"spark_conn_id": [text]})


def _kerberos() -> type:
    try:
        cls: type = import_module("requests_kerberos").HTTPKerberosAuth
    except ImportError as error:
        text = "extra `auth_type`: `kerberos` needs a package that is missing: pip install requests-kerberos"
        raise _wrong(text) from error
    return cls


def _message(content: Any) -> str:
    """The words of an error: Livy's are a text, or have a member of their own."""
    text = content.get("msg", "") if isinstance(content, dict) else content or ""
    return printable(str(text).partition("\n")[0])


def _last_line(log: Any) -> str:
    """Of spark-submit's output, or of YARN's diagnostics."""
    lines = (str(line).strip() for line in reversed(log))
    return next((printable(line) for line in lines if line and not line.startswith(_NO_REASONS)), "")
