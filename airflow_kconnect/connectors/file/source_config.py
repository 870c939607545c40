"""The keys of the file source: Connect's, and ours for many files, their parts and their replacement."""

from __future__ import annotations

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Range, Type, ValidString
from airflow_kconnect.validation.connector_keys import KCONNECT

COPIED = "copytruncate"


def source_config() -> ConfigDef:
    """All keys of the connector itself."""
    config = ConfigDef()
    _define_files(config)
    _define_reading(config)
    return config


def _define_files(config: ConfigDef) -> None:
    config.define(
        "file",
        Type.STRING,
        default=None,
        importance=Importance.HIGH,
        documentation="File to read. Its name, as written here, is the source partition. Unlike Connect, which"
        " falls back to standard input, either `file` or `files` is needed.",
    )
    config.define(
        "files",
        Type.STRING,
        default=None,
        importance=Importance.HIGH,
        documentation="A folder, or a glob pattern (`**` for any depth): one source partition per file; new"
        " files are found by each run. Hidden files are left out; pipes and devices are skipped with a"
        " warning.",
        group=KCONNECT,
    )
    config.define(
        "files.follow.links",
        Type.BOOLEAN,
        default=False,
        importance=Importance.LOW,
        documentation="Whether symbolic links below the folder of `files` are followed. Not by default: anyone"
        " who may write to the folder could have any file read that the job may read. Such links are skipped"
        " with a warning.",
        group=KCONNECT,
    )


def _define_reading(config: ConfigDef) -> None:
    config.define(
        "topic",
        Type.STRING,
        validator=NonEmptyString(),
        importance=Importance.HIGH,
        documentation="The topic to publish data to",
    )
    config.define(
        "batch.size",
        Type.INT,
        default=2000,
        importance=Importance.LOW,
        documentation="Lines per `poll` in Connect.",
        without_effect="lines travel in Arrow batches",
    )
    config.define(
        "max.line.bytes",
        Type.INT,
        default=8 * 1024 * 1024,
        validator=Range.at_least(1),
        importance=Importance.LOW,
        documentation="A longer line fails the run, named by file and byte, before it fills the memory.",
        group=KCONNECT,
    )
    config.define(
        "split.bytes",
        Type.LONG,
        default=64 * 1024 * 1024,
        validator=Range.at_least(1),
        importance=Importance.LOW,
        documentation="A run reads its part of a file in parallel pieces of one to two times this size."
        " Within one, lines keep their order; `kconnect.splits.max=1` keeps the order of the whole file.",
        group=KCONNECT,
    )
    config.define(
        "on.replaced",
        Type.STRING,
        default="fail",
        validator=ValidString.in_("fail", "restart", COPIED),
        importance=Importance.MEDIUM,
        documentation="What to do when a file became shorter than its offset, begins differently or was"
        " rewritten: `fail` the run, or `restart` from the file's beginning. `copytruncate`: logs are rotated in"
        " this way; the copy, which `files` has to match, is continued where its original was read, and the original"
        " is read from its beginning. Without a copy the run fails.",
        group=KCONNECT,
    )
