"""What errors of S3 mean for a run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError, FencedError, RetriableError
from airflow_kconnect.credentials.aws import safe_text
from airflow_kconnect.places import errors

GONE = {"NoSuchUpload", "NoSuchKey", "NotFound", "404"}
"""What stores answer where an upload or an object is not there."""

_UNAVAILABLE = {"SlowDown", "ServiceUnavailable", "InternalError", "RequestTimeout", "Throttling", "429",
                "ThrottlingException", "RequestLimitExceeded", "OperationAborted", "TooManyRequests",
                "ConditionalRequestConflict"}  # fmt: skip
_DENIED = {"AccessDenied", "AllAccessDisabled", "403"}
_RIGHTS = {
    "ListObjectsV2": "s3:ListBucket",
    "ListMultipartUploads": "s3:ListBucketMultipartUploads",
    "CreateMultipartUpload": "s3:PutObject",
    "UploadPart": "s3:PutObject",
    "CompleteMultipartUpload": "s3:PutObject",
    "AbortMultipartUpload": "s3:AbortMultipartUpload",
    "HeadObject": "s3:GetObject",
    "CopyObject": "s3:PutObject",
    "GetObject": "s3:GetObject",
    "DeleteObject": "s3:DeleteObject",
}
"""Operation -> the right that it needs."""
_EXPIRED = "says that the credentials have expired: renew them, then run again"
_REGION = "is in another region: set `store.region`"
_REFUSED = {
    "InvalidAccessKeyId": "does not know the access key: check the credentials",
    "SignatureDoesNotMatch": "does not accept the secret key: check the credentials",
    "InvalidToken": "does not accept the session token: check the credentials",
    "ExpiredToken": _EXPIRED,
    "ExpiredTokenException": _EXPIRED,
    "TokenRefreshRequired": _EXPIRED,
    "RequestTimeTooSkewed": "says that the clock of this machine is wrong: set it, then run again",
    "RequestExpired": "says that the clock of this machine is wrong: set it, then run again",
    "NoSuchBucket": "has no such bucket: check its name, the region and the endpoint, or create it",
    "PermanentRedirect": _REGION,
    "AuthorizationHeaderMalformed": _REGION,
    "IllegalLocationConstraintException": _REGION,
    "301": _REGION,
    "InvalidObjectState": "has moved it into an archive: restore it, then run again",
    # To a request for what is known of an object, stores give no reasons.
    "400": "refuses without a reason: check that the credentials have not expired, and the region",
}


def code_of(error: Any) -> str:
    """Of boto3's `ClientError`."""
    return str(error.response.get("Error", {}).get("Code", ""))


@contextlib.contextmanager
def errors_named(doing: str, key: str | None = None) -> Iterator[None]:
    """Errors of S3 as those of a run.

    :param doing: what is attempted, with the address. :param key: of the configuration, which is wrong if S3 refuses.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        raise _answered(doing, error, key) from error
    except (BotoCoreError, OSError) as error:
        raise _unanswered(doing, error, key) from None  # its text may have a login


def _answered(doing: str, error: Any, key: str | None) -> ConnectError:
    code, status = code_of(error), error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    message = " ".join(str(error.response.get("Error", {}).get("Message") or code).split())
    if code in _UNAVAILABLE or status >= 500:
        return errors.overloaded(doing, code or status)
    if error.operation_name == "AssumeRole":
        return ConfigError(
            {"store.role.arn": [f"{doing}: the role cannot be assumed ({message}): check who may do so"]}
        )
    if code in ("PreconditionFailed", "412", "NoSuchKey"):
        return errors.replaced(doing)
    if code == "NoSuchUpload":
        return FencedError(f"{doing}: its upload is gone: another run of this connector has ended it")
    if code in _DENIED:
        right = _RIGHTS.get(error.operation_name, error.operation_name)
        why = f"the store refuses it ({message}): give its user or role the right `{right}`"
    else:
        why = f"the store {_REFUSED[code]}" if code in _REFUSED else f"{message} ({code})"
    return errors.refused(doing, why, key)


def _unanswered(doing: str, error: Exception, key: str | None) -> ConnectError:
    from botocore import exceptions as boto

    if isinstance(error, boto.NoCredentialsError | boto.PartialCredentialsError):
        text = f"{doing}: there are no credentials: name an Airflow connection, or set AWS's variables or a role"
        return ConfigError({key or "directory": [text]})
    if isinstance(error, boto.ProfileNotFound):
        return ConfigError({"store.profile": [f"{doing}: {error}: it must be in AWS's files on this machine"]})
    if isinstance(error, boto.NoRegionError):
        return ConfigError({"store.region": [f"{doing}: there is none: set it"]})
    if isinstance(error, boto.ParamValidationError):
        return ConfigError({key or "directory": [f"{doing}: {' '.join(str(error).split())}"]})
    if isinstance(error, boto.SSLError) and "CERTIFICATE_VERIFY_FAILED" in str(error):
        return errors.untrusted(doing)
    if type(error) is boto.HTTPClientError:
        text = f"{doing}: {safe_text(error)}"
        return RetriableError(f"{text}; check that endpoint, proxy and credentials are right, then run again")
    text = f"{doing}: {type(error).__name__}: {safe_text(error)}"
    return RetriableError(f"{text}; check that endpoint and region are right, and the network, then run again")
