"""The files of `docker/` in the form that tests need."""

from __future__ import annotations

import re
from typing import Any

import yaml

from tests.support.pages.markdown import REPOSITORY

FOLDER = REPOSITORY / "docker"
FILE = FOLDER / "compose.yaml"
OUR_IMAGE = "airflow-kconnect:local"


def services() -> dict[str, dict[str, Any]]:
    """The services of compose.yaml."""
    defined: dict[str, dict[str, Any]] = yaml.safe_load(FILE.read_text())["services"]
    return defined


def instructions(name: str) -> list[str]:
    """The arguments of an instruction in the Dockerfile, one string per occurrence."""
    text = (FOLDER / "Dockerfile").read_text()
    joined = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    return [line.partition(" ")[2].strip() for line in joined.splitlines() if line.startswith(f"{name} ")]


def image_environment() -> dict[str, str]:
    """The variables that ENV sets in the image."""
    return dict(pair.split("=", 1) for line in instructions("ENV") for pair in line.split())


def kafka_properties() -> dict[str, str]:
    """The server properties that the Kafka image generates from its environment variables."""
    return {
        key.removeprefix("KAFKA_")
        .replace("___", "-")
        .replace("__", "\0")
        .replace("_", ".")
        .replace("\0", "_")
        .lower(): str(value)
        for key, value in services()["kafka"]["environment"].items()
    }
