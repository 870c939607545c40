"""Every kind of connector that is tortured, by its name."""

from __future__ import annotations

from tests.torture.connectors import (
    DirectorySink,
    DltSource,
    FileSink,
    FileSource,
    FolderSource,
    PostgresSink,
    PostgresSource,
    PythonSink,
    PythonSource,
    SqliteSink,
    SqliteSource,
    Tortured,
)
from tests.torture.hosted import HostedFileSink, HostedFileSource
from tests.torture.in_stores import (
    AzureSink,
    ConfluentAzureSink,
    ConfluentGoogleSink,
    ConfluentS3Sink,
    FilesInFolder,
    FilesInStore,
    GoogleSink,
    HdfsSink,
    S3Sink,
)
from tests.torture.table_source import DeltaSource
from tests.torture.tables import DeltaAppend, DeltaUpsert, IcebergAppend, IcebergUpsert
from tests.torture.timestamps import TimestampSource

ALL: dict[str, type[Tortured]] = {
    found.kind: found
    for found in (
        FileSource,
        FolderSource,
        FilesInFolder,
        FilesInStore,
        PythonSource,
        PostgresSource,
        SqliteSource,
        DltSource,
        TimestampSource,
        HostedFileSource,
        DeltaSource,
        FileSink,
        DirectorySink,
        S3Sink,
        AzureSink,
        GoogleSink,
        HdfsSink,
        ConfluentS3Sink,
        ConfluentAzureSink,
        ConfluentGoogleSink,
        PostgresSink,
        SqliteSink,
        PythonSink,
        HostedFileSink,
        IcebergAppend,
        IcebergUpsert,
        DeltaAppend,
        DeltaUpsert,
    )
}
