"""`/ui/`: the files of the Connectors page. They hold no data, so anyone may load them; their requests are checked."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from airflow_kconnect.rest.errors import RestError

_FOLDER = Path(__file__).parents[1] / "page"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
_POLICY = "; ".join(
    (
        "default-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'self'",
        "object-src 'none'",
        "require-trusted-types-for 'script'",
    )
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    # A newer version of the package must not run with older files.
    "Cache-Control": "no-cache",
}

router = APIRouter(include_in_schema=False)


@router.get("/ui")
async def add_slash() -> RedirectResponse:
    """To the page itself, wherever the app is mounted."""
    return RedirectResponse("ui/")


@router.get("/ui/{name:path}")
async def get_file(request: Request, name: str) -> Response:
    """A file of the page."""
    file = _files().get(name or "index.html")
    if file is None:
        raise RestError(404, "HTTP 404 Not Found")
    content, tag, kind = file
    headers = {**_HEADERS, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=kind, headers=headers)


@cache
def _files() -> dict[str, tuple[bytes, str, str]]:
    """Path below the folder of the page -> content, ETag and kind; nothing else of the disk can be asked for."""
    found = {}
    for file in (file for file in _FOLDER.rglob("*.*") if file.suffix in _KINDS):
        content = file.read_bytes()
        # Weak: the bytes may be compressed on their way.
        tag = f'W/"{hashlib.sha256(content).hexdigest()[:20]}"'
        found[file.relative_to(_FOLDER).as_posix()] = content, tag, _KINDS[file.suffix]
    return found
