"""Objects of S3: their names in the bucket, the clients that ask for them, and the markers of uploads."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import cached_property
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, FencedError
from airflow_kconnect.places import hidden as names
from airflow_kconnect.places.address import Address
from airflow_kconnect.places.base import Place, StagedFile
from airflow_kconnect.places.s3.client import MAKING, Patience, S3Settings, s3_client, shared_client
from airflow_kconnect.places.s3.errors import errors_named
from airflow_kconnect.places.s3.uploads import abort, head, uploads

_CLIENTS = ("_s3", "_s3_once")
_PROBE_AGE = timedelta(hours=1)
"""By the store's clock: a check takes seconds."""


class S3Objects(Place):
    """What a place and the uploads into it need: objects by their names, and who has begun an upload."""

    def __init__(self, at: Address, settings: S3Settings) -> None:
        super().__init__(at)
        self._settings = settings
        self._in_task = False
        self._base = f"{at.path}/" if at.path else ""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _CLIENTS}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, _in_task=True)

    @cached_property
    def marks(self) -> bool:
        """Whether uploads have markers here. The check finds it out, and tasks get it with the place."""
        with self._named("write", names.PROBE):
            return self._try_upload(self._s3, self._key(names.PROBE))

    def _try_upload(self, s3: Any, probe: Mapping[str, str]) -> bool:
        """An upload is begun, found, and aborted; so are those of checks that were killed.

        :returns: whether it was found by its whole name only. :raises ConfigError: it was not found.
        """
        upload, begun = s3.create_multipart_upload(**probe, **self._settings.upload)["UploadId"], {}
        beginning, whole = probe["Key"][:-1], probe["Key"]
        try:
            for prefix in (beginning, whole):
                own = [each for each in uploads(s3, self._bucket, prefix) if each["Key"] == whole]
                begun = {each["UploadId"]: each.get("Initiated") for each in own}
                if upload in begun:
                    break
        finally:
            abort(s3, probe, upload)
        if upload not in begun:
            text = "the store does not list uploads, so a run could not end what older ones write"
            raise ConfigError({"directory": [f"cannot use {self.at}: {text}: use another store"]})
        for other, at in begun.items():
            if other != upload and at and begun[upload] - at >= _PROBE_AGE:  # younger ones: of checks at the same time
                abort(s3, probe, other)
        return prefix == whole

    def discard(self, staged: StagedFile) -> None:
        self._unmark(staged)
        with self._named("remove", staged.name):
            key = self._key(staged.name)
            if (own := staged.facts.get("upload")) is not None:
                abort(self._s3, key, own)
                return
            for each in uploads(self._s3, self._bucket, key["Key"]):  # its marker was found
                if each["Key"] == key["Key"]:
                    abort(self._s3, key, each["UploadId"])

    def close(self) -> None:
        for name in _CLIENTS:
            if (client := vars(self).pop(name, None)) is not None and not self._in_task:
                client.close()

    @cached_property
    def _s3(self) -> Any:
        return self._client("_s3", Patience())

    @cached_property
    def _s3_once(self) -> Any:
        """Repeats no requests."""
        return self._client("_s3_once", Patience(attempts=1))

    def _client(self, name: str, patience: Patience) -> Any:
        """Several threads may ask for it at once: one of them logs in."""
        with MAKING:
            own = vars(self)
            if name not in own:
                own[name] = (shared_client if self._in_task else s3_client)(self._settings, patience)
            return own[name]

    @property
    def _bucket(self) -> dict[str, str]:
        return {"Bucket": self.at.root}

    def _key(self, name: str) -> dict[str, str]:
        return {"Bucket": self.at.root, "Key": self._base + name}

    def _marker(self, staged: StagedFile) -> dict[str, str]:
        return self._key(names.marker(staged.name, staged.facts["id"]))

    def _is_open(self, staged: StagedFile) -> bool:
        """Whether no one has removed its marker."""
        return not staged.facts.get("marked") or head(self._s3, self._marker(staged)) is not None

    def _fenced(self, name: str) -> FencedError:
        return FencedError(f"the upload of {self.uri(name)} is gone: another run of this connector has ended it")

    def _unmark(self, staged: StagedFile) -> None:
        if staged.facts.get("marked"):
            with self._named("remove", staged.name):
                self._s3.delete_object(**self._marker(staged))

    def _named(self, verb: str, name: str) -> AbstractContextManager[None]:
        return errors_named(f"cannot {verb} {self.uri(name)}")
