"""Errors as Connect answers them: `{"error_code": ..., "message": ...}` with the status code of their kind."""

from __future__ import annotations

import logging
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, FencedError, RetriableError
from airflow_kconnect.control.errors import AlreadyExistsError, ForbiddenError, NotFoundError

log = logging.getLogger(__name__)

_STATUS = {
    NotFoundError: 404,
    AlreadyExistsError: 409,
    ForbiddenError: 403,
    ConfigError: 400,
    # Connect answers 500: a proxy or a client that knows HTTP retries this one.
    RetriableError: 503,
    FencedError: 409,
    DataError: 500,
}


# For clients that wait as long as they are told to.
_RETRY_AFTER = {"Retry-After": "5"}


class RestError(Exception):
    """A request that is refused.

    :param status: HTTP status code. :param message: for the user.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def error_body(status: int, message: str) -> JSONResponse:
    """An answer with Connect's error body."""
    return JSONResponse({"error_code": status, "message": message}, status, _RETRY_AFTER if status == 503 else None)


def handle_errors(app: FastAPI) -> None:
    """Answer all errors of the app in Connect's form."""
    app.add_exception_handler(RestError, _refused)
    app.add_exception_handler(ConnectError, _ours)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_parameters)
    app.add_exception_handler(Exception, _unexpected)


def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RestError)
    return error_body(error.status, error.message)


def _ours(request: Request, error: Exception) -> JSONResponse:
    status = next((status for kind, status in _STATUS.items() if isinstance(error, kind)), 500)
    return error_body(status, _message(error))


def _message(error: Exception) -> str:
    """Connect's texts stand alone: without the name of the connector that the request named."""
    if type(error) is ConfigError:
        return "\n".join(message for messages in error.errors.values() for message in messages)
    return str(error)


def _of_http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    plain = HTTPStatus(error.status_code).phrase
    text = f"HTTP {error.status_code} {plain}" if error.detail == plain else str(error.detail)
    answer = error_body(error.status_code, text)
    answer.headers.update(error.headers or {})
    return answer


def _of_parameters(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    problems = (f"{'.'.join(map(str, each['loc'][1:]))}: {each['msg']}" for each in error.errors())
    # Connect's paths have typed parameters: others do not exist.
    in_path = any(each["loc"][0] == "path" for each in error.errors())
    return error_body(404, "HTTP 404 Not Found") if in_path else error_body(400, "; ".join(problems))


def _unexpected(request: Request, error: Exception) -> JSONResponse:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    text = f"An unexpected {type(error).__name__} occurred; the server's log has the details"
    return error_body(500, text)
