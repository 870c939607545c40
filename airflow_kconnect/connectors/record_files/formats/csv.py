"""CSV: Arrow finds rows and values, which are bytes first. So a value that does not fit spoils its row alone."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pcsv

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connectors.record_files.config import STRINGS, FileSettings
from airflow_kconnect.connectors.record_files.exactness import exact_type, lost
from airflow_kconnect.connectors.record_files.formats.base import Columns, RecordFormat, Rows
from airflow_kconnect.connectors.record_files.formats.lines import BOM
from airflow_kconnect.connectors.record_files.types import Description, arrow_of, described, schema_of
from airflow_kconnect.connectors.record_files.values import ROW, Errors, parsed, quoted

_BLOCK = 4 * 1024 * 1024
"""A row must fit into it."""
_SAMPLE = 1024 * 1024
_END = 4096
_TOO_LONG, _EMPTY, _TOO_SHORT = "straddling object", "Empty CSV", "Could not skip"
"""What Arrow says about a row, a file, and one that has fewer lines than are left out."""


class CsvFormat(RecordFormat):
    """Its positions are bytes."""

    def columns(self, known: Mapping[str, Description]) -> Columns:
        """Names of the header; types that are known, or as a sample suggests."""
        if (reader := self._sample()) is None:
            return {}
        names = reader.schema.names
        if not self.settings.dialect.header:
            names = [*self.settings.dialect.names] or [f"column{n + 1:02}" for n in range(len(names))]
        schema_of(reader.schema, self.source.name)  # of several columns with a name one would be left
        if self.settings.inference == STRINGS:
            return {name: known.get(name, "string") for name in names}
        given = dict(zip(names, reader.schema.types, strict=True))
        found = self._exact({name: type_ for name, type_ in given.items() if name not in known}, names)
        return {name: known.get(name) or found[name] for name in names}

    def _exact(self, suggested: Mapping[str, pa.DataType], names: Sequence[str]) -> Columns:
        """Types of columns in which nothing of the sample is lost."""
        doubtful = {name for name, type_ in suggested.items() if described(type_) not in ("string", "date")}
        found = {name: described(type_) for name, type_ in suggested.items()}
        if not doubtful:
            return found
        with self.source.text() as stream:
            start = stream.read(_SAMPLE)
        sample = self.source.text() if len(start) == _SAMPLE else pa.BufferReader(start + b"\n")
        rows = next(iter(self._reader(sample, _SAMPLE, names, [], header=self.settings.dialect.header)), None)
        if rows is None:
            return found
        for name in doubtful:
            found[name] = exact_type(rows.column(names.index(name)).cast(pa.string()), suggested[name])
        return found

    def _sample(self) -> pcsv.CSVStreamingReader | None:
        """The first rows, in the types that Arrow finds; None: there are none, which says nothing about types."""
        header, bad = self.settings.dialect.header, list[Any]()
        try:
            reader = self._reader(self.source.text(), _SAMPLE, None, bad, header=header)
            return reader if bad or next(iter(reader), None) is not None else None
        except pa.ArrowInvalid as error:
            if _EMPTY not in str(error) and _TOO_SHORT not in str(error):
                raise
        with self.source.text() as stream:
            start = stream.read(_SAMPLE)
        if len(start) == _SAMPLE:
            raise self.source.unreadable("begins with a mebibyte of empty lines, or with lines of that length")
        skipped = self.settings.dialect.skipped
        rest = start.removeprefix(BOM).split(b"\n", skipped)[skipped:]
        if header or not b"".join(rest).strip(b"\r\n"):
            return None
        # Arrow finds no columns in a line that is the only one and not ended.
        return self._reader(pa.BufferReader(start + b"\n"), _SAMPLE, None, [], header=False)

    def schema(self, columns: Columns | None) -> ConnectSchema:
        return schema_of(pa.schema(_fields(columns)), self.source.name)

    def cuts(self, begin: int) -> list[int]:
        if self.settings.dialect.multiline:
            return [begin, self.source.file.size]
        return self.source.line_starts(begin)

    def rows(self, columns: Columns | None, begin: int, end: int) -> Iterator[Rows]:
        fields, names, bad = _fields(columns), [*(columns or ())], list[Any]()
        header = self.settings.dialect.header and begin == 0
        before = header + (self.settings.dialect.skipped if begin == 0 else 0)
        row = 1 + before  # that of the next batch, as Arrow counts them
        text = _Ended(self.source.text(begin, end))
        stream = pa.PythonFile(text, mode="r")
        try:
            for batch, is_last in _with_last(self._reader(stream, _BLOCK, names, bad, header=header, begin=begin)):
                wrong = _take_until(bad, row, batch.num_rows)
                made = self._rows(batch, fields, [(at - row, text) for at, text in wrong])
                yield self._with_open_quote(made, batch, text.end) if is_last and not bad else made
                row += batch.num_rows + len(wrong)
            if bad:
                yield self._rows(_nothing(fields), fields, [(at - row, text) for at, text in bad])
        except pa.ArrowInvalid as error:
            if _TOO_LONG in str(error):
                raise self.source.unreadable(
                    f"has a row of more than {_BLOCK // 1024 // 1024} MiB after row {row - 1 - before}: a quote that is"
                    " opened there may not be closed, or `csv.quote.char` is another one"
                ) from error
            raise

    def _rows(self, batch: pa.RecordBatch, fields: Sequence[pa.Field], wrong: Sequence[tuple[int, str]]) -> Rows:
        spaced = Errors() if self.settings.dialect.spaced_quotes else self._spaced(batch)
        return _rows(batch, fields, wrong, spaced, self.settings)

    def _spaced(self, batch: pa.RecordBatch) -> Errors:
        """Rows with a value that begins with spaces and a quote."""
        found = Errors()
        for name, texts in zip(batch.schema.names, batch.columns, strict=True):
            if (quote := self.settings.dialect.quote) is None or not pa.types.is_binary(texts.type):
                continue
            at = pc.match_substring_regex(texts, rf"^[ \t]+\x{ord(quote):02x}")
            for row in np.flatnonzero(at.fill_null(False).to_numpy(zero_copy_only=False)):
                why = f"`{name}` has spaces before a quote, which would be taken for a part of the value"
                found[int(row)] = f"{why}: {quoted(texts[int(row)].as_py())}"
        return found

    def _with_open_quote(self, rows: Rows, last: pa.RecordBatch, end: bytes) -> Rows:
        """The last rows of a part; the last one is bad if all that follows a quote was taken for its last value.

        :param end: of the text.
        """
        quote, value = self.settings.dialect.quote, last.column(last.num_columns - 1)[-1].as_py()
        if quote is None or value is None:
            return rows
        is_open = end.endswith(quote.encode() + value) and not end.endswith(2 * quote.encode() + value)
        if not is_open and (b"\n" not in value or end.rstrip().endswith(quote.encode())):
            return rows
        why = f"`{last.schema.names[-1]}` begins with a quote that is not closed: {quoted(value, ROW)}"
        place = len(rows.values) - 1
        values = pa.concat_arrays([rows.values[:place], pa.nulls(1, rows.values.type)])
        return Rows(values, {**rows.errors, place: why})

    def _reader(
        self,
        stream: pa.NativeFile,
        block: int,
        names: Sequence[str] | None,
        bad: list[tuple[int, str]],
        *,
        header: bool,
        begin: int = 0,
    ) -> pcsv.CSVStreamingReader:
        """:param names: of columns, which are bytes; None: they are not known yet. :param bad: gets what is skipped.
        :param header: whether it comes first; empty lines may be before it.
        """
        dialect = self.settings.dialect

        def wrong(row: pcsv.InvalidRow) -> str:
            doubt = ", and line ends within quotes: is one not closed?" if "\n" in row.text.strip() else ""
            counts = f"has {row.actual_columns} values, expected {row.expected_columns}{doubt}"
            bad.append((row.number, f"{counts}: {quoted(row.text, ROW)}"))
            return "skip"

        return pcsv.open_csv(
            stream,
            read_options=pcsv.ReadOptions(
                use_threads=False,
                block_size=block,
                skip_rows=dialect.skipped if begin == 0 else 0,
                column_names=None if header else names,
                autogenerate_column_names=names is None and not header,
            ),
            parse_options=pcsv.ParseOptions(
                delimiter=self.settings.separator_of(self.source.file.name),
                quote_char=dialect.quote or False,
                escape_char=dialect.escape or False,
                newlines_in_values=dialect.multiline,
                invalid_row_handler=wrong,
            ),
            convert_options=pcsv.ConvertOptions(
                column_types={name: pa.binary() for name in names or ()},
                null_values=[] if dialect.null is None else [dialect.null],
                strings_can_be_null=True,
                quoted_strings_can_be_null=dialect.quoted_null,
            ),
        )


class _Ended(io.RawIOBase):
    """A text that is read forwards, and how it has ended so far."""

    def __init__(self, text: pa.NativeFile) -> None:
        self._text, self.end = text, b""

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        data: bytes = self._text.read(size)
        self.end = (self.end + data)[-_END:] if len(data) < _END else data[-_END:]
        return data

    def close(self) -> None:
        self._text.close()
        super().close()


def _with_last(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[pa.RecordBatch, bool]]:
    """Batches with rows, each with whether it is the last one. What comes before an error is not lost."""
    held = None
    try:
        for batch in batches:
            if batch.num_rows and held is not None:
                yield held, False
            held = batch if batch.num_rows else held
    except (pa.ArrowException, OSError):
        if held is not None:
            yield held, False
        raise
    if held is not None:
        yield held, True


def _fields(columns: Columns | None) -> list[pa.Field]:
    return [pa.field(name, arrow_of(each)) for name, each in (columns or {}).items()]


def _nothing(fields: Sequence[pa.Field]) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], pa.schema([pa.field(each.name, pa.binary()) for each in fields]))


def _take_until(bad: list[tuple[int, str]], first: int, good: int) -> list[tuple[int, str]]:
    """Take the bad rows that are before the last of a number of good rows. A later block may have been looked at."""
    count = 0
    while count < len(bad) and bad[count][0] < first + good + count:
        count += 1
    taken, bad[:] = bad[:count], bad[count:]
    return taken


def _rows(
    batch: pa.RecordBatch,
    fields: Sequence[pa.Field],
    wrong: Sequence[tuple[int, str]],
    bad: Errors,
    settings: FileSettings,
) -> Rows:
    """:param wrong: rows that are not in the batch, by their places among its rows. :param bad: rows that are."""
    columns, errors, given = [], Errors(bad), dict(settings.types)
    for field, texts in zip(fields, batch.columns, strict=True):
        values, problems = parsed(texts, field.type, field.name, settings.charset_key)
        columns.append(values)
        errors = problems | errors
        if field.name not in given:
            errors = {int(row): _lost(field, texts[int(row)].as_py()) for row in lost(texts, values)} | errors
    mask = np.zeros(batch.num_rows, bool)
    mask[list(errors)] = True
    values = pa.StructArray.from_arrays(columns, fields=list(fields), mask=pa.array(mask))
    if not wrong:
        return Rows(values, errors)
    places = np.ones(batch.num_rows + len(wrong), bool)
    places[[at for at, _ in wrong]] = False
    moved = np.flatnonzero(places)
    taken = values.take(pa.array(np.cumsum(places) - 1, mask=~places))
    return Rows(taken, {int(moved[row]): text for row, text in errors.items()} | dict(wrong))


def _lost(field: pa.Field, text: bytes) -> str:
    why = f"`{field.name}` is {quoted(text)}, which would lose something as {described(field.type)}"
    return f"{why}, the type that a sample has suggested: give the column a type (`schema.types`)"
