"""S3 and stores that speak its protocol: multipart uploads, which are completed when a file becomes visible."""

from __future__ import annotations

import contextlib
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, BinaryIO, cast

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, FencedError, RetriableError
from airflow_kconnect.places.address import Address
from airflow_kconnect.places.base import Place, PlacedFile, StagedFile, Staging
from airflow_kconnect.places.streams import RangeReader

PART_BYTES_MIN = 5 * 1024 * 1024
"""S3 refuses smaller parts, but for the last one."""
_PARTS_MAX = 10_000
_PAGE = 1000
_IN_MEMORY = 1024 * 1024
_WRITER = "kconnect-file"
"""In the metadata of an object: which staged file it was. An answer that was lost can be asked for so."""

_GONE = {"NoSuchUpload", "NoSuchKey", "404"}
"""What stores answer where an upload is not there."""

# What an error of S3 means for a run. Others are as they come: an error that names them.
_UNAVAILABLE = {"SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout", "Throttling", "503", "500", "502",
                "504", "ThrottlingException", "RequestLimitExceeded", "OperationAborted"}  # fmt: skip
_REFUSED = {
    "AccessDenied": "may not be used so with these credentials: check the policies of their user or role",
    "403": "may not be used so with these credentials: check the policies of their user or role",
    "InvalidAccessKeyId": "does not know the access key: check the credentials",
    "SignatureDoesNotMatch": "does not accept the secret key: check the credentials",
    "ExpiredToken": "says that the credentials have expired: renew them, then run again",
    "ExpiredTokenException": "says that the credentials have expired: renew them, then run again",
    "RequestTimeTooSkewed": "says that the clock of this machine is wrong: set it, then run again",
    "NoSuchBucket": "has no such bucket: check its name, the region and the endpoint, or create it",
    "PermanentRedirect": "is in another region: set `store.region`",
    "AuthorizationHeaderMalformed": "is in another region: set `store.region`",
}


@dataclass(frozen=True)
class S3Settings:
    """How S3 is reached. What is None, boto3 finds in the environment: variables, profiles, roles of the machine."""

    endpoint: str | None = None
    region: str | None = None
    path_style: bool | None = None
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)


class S3Place(Place):
    """Objects below a prefix of a bucket."""

    def __init__(self, at: Address, settings: S3Settings) -> None:
        super().__init__(at)
        self._settings = settings
        self._base = f"{at.path}/" if at.path else ""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_s3"}

    def check(self) -> None:
        with self._named("use", "", key="directory"):
            self._s3.list_objects_v2(**self._bucket, Prefix=self._base, MaxKeys=1)

    def files(self, prefix: str = "") -> Iterator[PlacedFile]:
        with self._named("list", prefix):
            pages = self._s3.get_paginator("list_objects_v2").paginate(
                **self._bucket, Prefix=self._base + prefix, PaginationConfig={"PageSize": _PAGE}
            )
            for page in pages:
                for each in page.get("Contents", ()):
                    name = each["Key"].removeprefix(self._base)
                    if not name.endswith("/") and not any(part.startswith(".") for part in name.split("/")):
                        yield _placed(name, each["Size"], each)

    def find(self, name: str) -> PlacedFile | None:
        found = self._head(name)
        return None if found is None else _placed(name, found["ContentLength"], found)

    def read(self, file: PlacedFile) -> BinaryIO:
        etag, _, _ = file.version.rpartition("@")

        def fetch(start: int, end: int) -> bytes:
            with self._named("read", file.name):
                found = self._s3.get_object(**self._key(file.name), Range=f"bytes={start}-{end - 1}", IfMatch=etag)
                return bytes(found["Body"].read())

        return cast("BinaryIO", RangeReader(fetch, file.size))

    def stage(self, name: str, part_bytes: int = 8 * 1024 * 1024) -> Staging:
        return _S3Staging(self, name, max(part_bytes, PART_BYTES_MIN))

    def publish(self, staged: StagedFile) -> None:
        parts = [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(staged.facts["parts"], 1)]
        with self._named("write", staged.name):
            try:
                self._s3.complete_multipart_upload(
                    **self._key(staged.name), UploadId=staged.facts["upload"], MultipartUpload={"Parts": parts}
                )
            except self._s3.exceptions.ClientError as error:
                if _code(error) not in _GONE:
                    raise
                if self._is_published(staged):
                    return
                raise FencedError(
                    f"the upload of {self._uri(staged.name)} is gone: another run of this connector has ended it"
                ) from error

    def discard(self, staged: StagedFile) -> None:
        with self._named("remove", staged.name):
            try:
                self._s3.abort_multipart_upload(**self._key(staged.name), UploadId=staged.facts["upload"])
            except self._s3.exceptions.ClientError as error:
                if _code(error) not in _GONE:
                    raise

    def staged(self, prefix: str = "") -> Iterator[StagedFile]:
        with self._named("list", prefix):
            pages = self._s3.get_paginator("list_multipart_uploads").paginate(
                **self._bucket, Prefix=self._base + prefix
            )
            for page in pages:
                for each in page.get("Uploads", ()):
                    yield StagedFile(each["Key"].removeprefix(self._base), 0, {"upload": each["UploadId"], "parts": []})

    def remove(self, file: PlacedFile) -> bool:
        # Not every store compares and removes in one step, so there is a moment in between. Names are of plans: what
        # could be written in it would be the same file.
        if (now := self.find(file.name)) is None or now.version != file.version:
            return False
        with self._named("remove", file.name):
            self._s3.delete_object(**self._key(file.name))
        return True

    def close(self) -> None:
        if (client := vars(self).pop("_s3", None)) is not None:
            client.close()

    @cached_property
    def _s3(self) -> Any:
        import boto3
        from botocore.config import Config

        own = self._settings
        style = {None: "auto", True: "path", False: "virtual"}[own.path_style]
        config = Config(
            connect_timeout=10,
            read_timeout=60,
            retries={"mode": "standard", "total_max_attempts": 5},
            max_pool_connections=16,
            proxies={"http": own.proxy, "https": own.proxy} if own.proxy else None,
            s3={"addressing_style": "path" if own.endpoint and own.path_style is None else style},
            # Stores other than Amazon's refuse the checksums that are newer than they are.
            request_checksum_calculation="when_required" if own.endpoint else "when_supported",
            response_checksum_validation="when_required" if own.endpoint else "when_supported",
        )
        # A session of its own: the default one is not safe for threads.
        return boto3.session.Session().client(
            "s3",
            endpoint_url=own.endpoint,
            region_name=own.region or ("us-east-1" if own.endpoint else None),
            verify=own.ca_file,
            aws_access_key_id=own.access_key_id,
            aws_secret_access_key=own.secret_access_key,
            aws_session_token=own.session_token,
            config=config,
        )

    @property
    def _bucket(self) -> dict[str, str]:
        return {"Bucket": self.at.root}

    def _key(self, name: str) -> dict[str, str]:
        return {"Bucket": self.at.root, "Key": self._base + name}

    def _uri(self, name: str) -> str:
        return str(self.at.below(name))

    def _head(self, name: str) -> Mapping[str, Any] | None:
        with self._named("look at", name):
            try:
                found: Mapping[str, Any] = self._s3.head_object(**self._key(name))
            except self._s3.exceptions.ClientError as error:
                if _code(error) in ("404", "NoSuchKey", "NotFound"):
                    return None
                raise
        return found

    def _is_published(self, staged: StagedFile) -> bool:
        found = self._head(staged.name)
        return found is not None and found["Metadata"].get(_WRITER) == staged.facts.get("id")

    @contextlib.contextmanager
    def _named(self, verb: str, name: str, key: str | None = None) -> Iterator[None]:
        """Errors of S3 as those of a run.

        :param key: of the configuration, which is wrong if S3 refuses.
        """
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError, PartialCredentialsError

        doing = f"cannot {verb} {self._uri(name)}"
        try:
            yield
        except ClientError as error:
            raise _error(doing, error, key) from error
        except (NoCredentialsError, PartialCredentialsError) as error:
            text = f"{doing}: there are no credentials: name an Airflow connection, or set AWS's variables or a role"
            raise ConfigError({key or "directory": [text]}) from error
        except (BotoCoreError, OSError) as error:
            text = f"{doing}: {type(error).__name__}: {error}"
            raise RetriableError(f"{text}; check that its endpoint is right and reachable, then run again") from error


class _S3Staging:
    """Parts are sent by a thread while the next one is being filled; what is small stays in memory until then."""

    def __init__(self, place: S3Place, name: str, part_bytes: int) -> None:
        self._place, self._name, self._part_bytes = place, name, part_bytes
        self._id = uuid.uuid4().hex
        self._size = 0
        self._part = _part_file()
        self._parts: list[Future[str]] = []
        with place._named("write", name):
            begun = place._s3.create_multipart_upload(**place._key(name), Metadata={_WRITER: self._id})
        self._upload: str = begun["UploadId"]

    def write(self, data: Any, /) -> int:
        written = int(self._part.write(data))
        self._size += written
        if self._part.tell() >= self._part_bytes:
            self._send()
            # So that the number of parts has no end that a file could reach.
            if len(self._parts) % (_PARTS_MAX // 10) == 0:
                self._part_bytes *= 2
        return written

    def finish(self) -> StagedFile:
        if self._part.tell() or not self._parts:
            self._send()
        etags = [part.result() for part in self._parts]
        self._part.close()
        return StagedFile(self._name, self._size, {"upload": self._upload, "parts": etags, "id": self._id})

    def abort(self) -> None:
        for part in self._parts:
            part.cancel()
        with contextlib.suppress(ConnectError):
            self._place.discard(StagedFile(self._name, 0, {"upload": self._upload}))
        self._part.close()

    def _send(self) -> None:
        part, self._part = self._part, _part_file()
        if len(self._parts) >= 2:
            self._parts[-2].result()  # at most two are on their way: a slow store slows the writer down
        self._parts.append(_senders().submit(self._put, part, len(self._parts) + 1))

    def _put(self, part: BinaryIO, number: int) -> str:
        place = self._place
        with part, place._named("write", self._name):
            part.seek(0)
            sent = place._s3.upload_part(**place._key(self._name), UploadId=self._upload, PartNumber=number, Body=part)
        return str(sent["ETag"])


def _part_file() -> Any:
    return tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)


@cache
def _senders() -> ThreadPoolExecutor:
    """Of a process, for all its files."""
    return ThreadPoolExecutor(4, thread_name_prefix="kconnect-parts")


def _placed(name: str, size: int, found: Mapping[str, Any]) -> PlacedFile:
    changed_ms = int(found["LastModified"].timestamp() * 1000)
    return PlacedFile(name, size, changed_ms, f"{found['ETag']}@{changed_ms}")


def _code(error: Any) -> str:
    return str(error.response.get("Error", {}).get("Code", ""))


def _error(doing: str, error: Any, key: str | None) -> ConnectError:
    code, status = _code(error), error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code in _UNAVAILABLE or status >= 500:
        return RetriableError(f"{doing}: the store is unavailable or overloaded ({code or status}); run again later")
    if code in ("PreconditionFailed", "412", "NoSuchKey"):
        return DataError(f"{doing}: it was replaced or removed after it was found: run again")
    known = _REFUSED.get(code)
    text = f"{doing}: the store {known}" if known else f"{doing}: {error.response['Error'].get('Message') or code}"
    return ConfigError({key: [text]}) if key else DataError(text)
