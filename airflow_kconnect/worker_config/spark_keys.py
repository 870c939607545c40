"""`kconnect.spark.conf.*`: Spark settings that a connector brings along, as far as its worker allows them.

The right to register a connector is not the right to run code on the machines of the cluster: only sizes and numbers
are on the default list, and settings that load code or name masters, files or addresses cannot be on any.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import get_close_matches

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.variables.syntax import has_reference

PREFIX = "kconnect.spark.conf."
ALLOWED = "kconnect.spark.conf.allowed"
"""The worker's key: the settings that connectors may use."""

DEFAULT_ALLOWED = (
    "spark.cores.max",
    "spark.default.parallelism",
    "spark.driver.cores",
    "spark.driver.maxResultSize",
    "spark.driver.memory",
    "spark.driver.memoryOverhead",
    "spark.dynamicAllocation.enabled",
    "spark.dynamicAllocation.initialExecutors",
    "spark.dynamicAllocation.maxExecutors",
    "spark.dynamicAllocation.minExecutors",
    "spark.executor.cores",
    "spark.executor.instances",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.pyspark.memory",
    "spark.memory.fraction",
    "spark.sql.shuffle.partitions",
    "spark.task.cpus",
)

_NAME = re.compile(r"spark\.[A-Za-z0-9_.-]+")
# Code, programs, files, addresses, identities, secrets; and what the exactly-once protocol forbids.
_NEVER = re.compile(
    r"(?i)java|class|\.jars|packages|repositor|ivy|plugin|extension|listener|extra|command|script|python|\.r\."
    r"|master|deploy|submit|proxy|files|archives|(?<!\.local)\.dir\b|path|upload|image|template|secret|password|token"
    r"|credential|principal|keytab|kerberos|\bacls?\b|auth|redaction|ssl|host|address|\.ui\.|env\.|hadoop|hive|catalog"
    r"|speculation|serializer|codec\b|logconf|log4j|metrics|eventlog|history|connect\.|\.api\.|kubernetes|yarn"
)


def worker_problem(name: str, entries: list[str]) -> str | None:
    """Validator for the worker's key: what no worker may allow."""
    if unknown := [entry for entry in entries if not _NAME.fullmatch(entry)]:
        return f"expected full names of Spark settings, such as spark.executor.memory; not {', '.join(unknown)}"
    never = [entry for entry in entries if _NEVER.search(entry)]
    if not never:
        return None
    return f"no connector may set {', '.join(never)}: such settings load code, or name files, addresses or logins"


def spark_errors(props: Mapping[str, str], allowed: list[str]) -> dict[str, list[str]]:
    """Key -> messages for the Spark settings of a connector.

    :param props: the connector's keys. :param allowed: the worker's list.
    """
    errors = {}
    for key, text in props.items():
        if key.startswith(PREFIX) and (problem := _problem(key.removeprefix(PREFIX), text, allowed)):
            errors[key] = [problem]
    return errors


def spark_settings(config: Mapping[str, object]) -> dict[str, str]:
    """The Spark settings of a connector whose configuration was validated, without the prefix.

    :raises ConfigError: a value is a variable: these are resolved in the job, where it is too late.
    """
    settings = {key: str(text).strip() for key, text in config.items() if key.startswith(PREFIX)}
    errors = {key: ["must not be a variable: Spark needs it before the job starts"] for key in settings
              if has_reference(settings[key])}  # fmt: skip
    if errors:
        raise ConfigError(errors)
    return {key.removeprefix(PREFIX): text for key, text in settings.items()}


def _problem(setting: str, text: str, allowed: list[str]) -> str | None:
    if setting not in allowed or _NEVER.search(setting):
        similar = get_close_matches(setting, allowed, n=1, cutoff=0.8)
        hint = f"; did you mean `{similar[0]}`?" if similar else ""
        return f"the worker does not allow connectors to set {setting} (`{ALLOWED}`){hint}"
    if not text or not text.isprintable():
        return f"{setting} needs a value on one line"
    return None
