"""What the services of Google have in common: the login of an Airflow connection, and errors of its clients as ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

from airflow.providers.common.compat.sdk import AirflowNotFoundException
from airflow.sdk import BaseHook

from airflow_kconnect.connect.errors import ConfigError, in_one_line
from airflow_kconnect.hooks.cloud_stores import check_google
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError
from airflow_kconnect.hooks.fields import Fields, Problem
from airflow_kconnect.hooks.services.asked import AskedService, RefusedRequestError
from airflow_kconnect.hooks.services.base import ServiceExtras, missing_package

_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]


class GoogleExtras(ServiceExtras):
    """Extras of the Spark connection of any service of Google.

    :param gcp_conn_id: Airflow connection with the worker's login.
    """

    gcp_conn_id: str = "google_cloud_default"


class GoogleService(AskedService):
    """A service of Google, asked by Google's own client."""

    extras_class: ClassVar[type[ServiceExtras]] = GoogleExtras

    @property
    def staging_conn_id(self) -> str | None:
        return super().staging_conn_id or str(self.extras.gcp_conn_id)

    def _credentials(self) -> Any:
        """Of a service account, if the connection has its key; else those of this machine."""
        from google.auth import default
        from google.oauth2.service_account import Credentials

        try:
            connection = BaseHook.get_connection(self.extras.gcp_conn_id)
            check_google(Fields(connection))
            if key := connection.extra_dejson.get("keyfile_dict"):
                return Credentials.from_service_account_info(json.loads(key), scopes=_SCOPES)  # type: ignore[no-untyped-call]
            if file := connection.extra_dejson.get("key_path"):
                return Credentials.from_service_account_file(file, scopes=_SCOPES)  # type: ignore[no-untyped-call]
        except AirflowNotFoundException:
            raise self._wrong("does not exist") from None
        except Problem as problem:
            raise self._wrong(str(problem)) from None
        except (OSError, ValueError) as error:
            raise self._wrong(f"has a key that cannot be used: {in_one_line(error)}") from None
        return default(scopes=_SCOPES)[0]

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            from google.api_core import exceptions as api
            from google.auth import exceptions as login
        except ImportError as error:
            raise missing_package(type(self)) from error
        try:
            yield
        except (api.TooManyRequests, api.ServerError, api.RetryError, login.TransportError, OSError) as error:
            # Those of `requests` are OSErrors.
            raise self._unavailable(error) from error
        except api.GoogleAPICallError as error:
            gone = isinstance(error, api.NotFound)
            raise RefusedRequestError(f"{self.title} refuses: {in_one_line(error)}", gone=gone) from error
        except login.GoogleAuthError as error:
            if error.retryable:
                raise self._unavailable(error) from error
            raise self._wrong(f"does not let the worker in: {in_one_line(error)}") from error

    def _unavailable(self, error: Exception) -> ClusterManagerUnavailableError:
        return ClusterManagerUnavailableError(f"{self.title} does not answer: {in_one_line(error)}")

    def _wrong(self, problem: str) -> ConfigError:
        return ConfigError(
            {"gcp_conn_id": [f"names the Airflow connection `{self.extras.gcp_conn_id}`, which {problem}"]}
        )
