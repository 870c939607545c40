"""What a hosted JVM prints."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pytest

from airflow_kconnect.hosted.jvm import log as subject
from airflow_kconnect.hosted.jvm.log import LogPump


def followed(folder: Path, text: str) -> LogPump:
    pump = LogPump(folder)
    pump.follow(io.StringIO(text))
    pump.close()
    return pump


def test_levels_are_those_of_java(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger=subject.log.name):
        followed(
            tmp_path, "WARN slow (org.acme.Task)\nERROR broken (org.acme.Task)\n\tat org.acme.A.b(A.java:1)\nhello\n"
        )
    levels = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert levels == [
        ("WARNING", "slow (org.acme.Task)"),
        ("ERROR", "broken (org.acme.Task)"),
        ("ERROR", "\tat org.acme.A.b(A.java:1)"),
        ("INFO", "hello"),
    ]


def test_a_flood_is_cut_and_counted(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger=subject.log.name):
        followed(tmp_path, "noise\n" * 1000)
    assert len(caplog.records) == 301
    assert caplog.records[-1].getMessage().startswith("700 more lines were printed by the connector")


def test_the_last_messages_are_told_when_java_ends(tmp_path: Path) -> None:
    pump = followed(tmp_path, "ERROR first (a)\n\tat x.y(Z.java:1)\nException in thread\n")
    assert pump.last_words() == " Its last messages: first (a) / Exception in thread"


def test_why_connect_cannot_make_tasks_is_kept(tmp_path: Path) -> None:
    pump = followed(
        tmp_path,
        "ERROR something else (a)\njava.lang.IllegalStateException: no\n"
        "ERROR [Worker groupId=g] Failed to reconfigure connector's tasks (c), retrying after backoff. (a.B)\n"
        "java.lang.NoClassDefFoundError: com/acme/Task\n\tat x.y(Z.java:1)\n"
        "Caused by: java.lang.ClassNotFoundException: com.acme.Task\n\t... 9 more\n"
        "WARN later (a)\nhello\n",
    )
    assert pump.tasks_problem("d") == []
    assert pump.tasks_problem("c") == [
        "java.lang.NoClassDefFoundError: com/acme/Task",
        "Caused by: java.lang.ClassNotFoundException: com.acme.Task",
    ]
