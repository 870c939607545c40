"""The Connect schema of an Avro schema, as AvroData's ``toConnectSchema`` makes it."""

from __future__ import annotations

from typing import Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.schemas import names
from airflow_kconnect.converters.avro.schemas.defaults import InvalidDefault, default_of_avro
from airflow_kconnect.converters.avro.schemas.drafts import (
    Draft,
    add_parameters,
    doc_of,
    is_number,
    set_name,
    set_version,
)
from airflow_kconnect.converters.avro.schemas.schema import NO_DEFAULT, AvroField, AvroSchema, AvroType
from airflow_kconnect.converters.registered import sums
from airflow_kconnect.converters.registered.schema_walk import SMALL_INTEGERS, SchemaWalk
from airflow_kconnect.converters.types import has_map

_PLAIN = {
    AvroType.BOOLEAN: SchemaType.BOOLEAN,
    AvroType.INT: SchemaType.INT32,
    AvroType.LONG: SchemaType.INT64,
    AvroType.FLOAT: SchemaType.FLOAT32,
    AvroType.DOUBLE: SchemaType.FLOAT64,
    AvroType.BYTES: SchemaType.BYTES,
    AvroType.FIXED: SchemaType.BYTES,
    AvroType.STRING: SchemaType.STRING,
    AvroType.ENUM: SchemaType.STRING,
}
_LOGICAL = {
    (AvroType.INT, "date"): DATE,
    (AvroType.INT, "time-millis"): TIME,
    (AvroType.LONG, "timestamp-millis"): TIMESTAMP,
    (AvroType.BYTES, "decimal"): DECIMAL,
    (AvroType.FIXED, "decimal"): DECIMAL,
}


def connect_schema(avro: AvroSchema, settings: AvroSettings, version: int | None = None) -> ConnectSchema:
    """The Connect schema of data written with an Avro schema.

    :param version: the registry's, for schemas without ``connect.version``.
    :raises DataError: Connect, or a Spark column, cannot hold such data.
    """
    return _ToConnect(settings).schema(avro, version=version)


def member_name(branch: AvroSchema, index: int, settings: AvroSettings) -> str:
    """Name of the struct member that holds a union's branch.

    :param index: of the branch in the union.
    """
    if settings.generalized_sum_type_support:
        return f"{sums.MEMBER}{index}"
    if branch.name is None:
        return branch.type.value
    return branch.name if settings.enhanced_avro_schema_support else names.split_name(branch.name)[1]


def is_map_entry(schema: AvroSchema) -> bool:
    """Whether an array of such elements is a map with keys that are not strings."""
    if schema.type is not AvroType.RECORD:
        return False
    marked = schema.props.get("connect.internal.type") == names.MAP_ENTRY
    return marked or schema.name == f"{names.NAMESPACE}.{names.MAP_ENTRY}"


class _ToConnect(SchemaWalk):
    language = "Avro"

    def __init__(self, settings: AvroSettings) -> None:
        super().__init__()
        self._settings = settings
        self._unions = 0

    def schema(
        self,
        avro: AvroSchema,
        *,
        optional: bool = False,
        default: Any = NO_DEFAULT,
        doc: str | None = None,
        version: int | None = None,
    ) -> ConnectSchema:
        """The schema of a type.

        :param default: JSON value of the field's default.
        :param doc: of the field.
        """
        self._count_one()
        if avro.type is AvroType.UNION:
            only = self._only_branch(avro)
            if only is not None:
                return self.schema(only, optional=optional or len(avro.branches) == 2, doc=doc)
        draft = self._draft(avro)
        draft.optional = draft.optional or optional
        description = self._attributes(avro, draft, doc, version)
        if default is NO_DEFAULT:
            default = avro.props.get("connect.default", NO_DEFAULT)
        elif self._keeps_types and "connect.default" not in avro.props:
            draft.parameters[names.FIELD_DEFAULT] = "true"
        return draft.built(description, self._default(draft.built(), avro, default))

    @property
    def _keeps_types(self) -> bool:
        return self._settings.connect_meta_data and not self._settings.discard_type_doc_default

    def _attributes(self, avro: AvroSchema, draft: Draft, doc: str | None, version: int | None) -> str | None:
        """Add what attributes say. Returns the doc."""
        try:
            set_version(avro, draft, version)
            description = doc_of(avro, draft, doc, self._settings)
            add_parameters(avro, draft, self._settings)
            set_name(avro, draft)
        except DataError as error:
            raise self._error(str(error)) from error
        return description

    def _only_branch(self, union: AvroSchema) -> AvroSchema | None:
        """The branch whose schema is the union's, with null added if that is the other branch."""
        others = [branch for branch in union.branches if branch.type is not AvroType.NULL]
        nullable = len(union.branches) == 2 and len(others) == 1
        single = len(union.branches) == 1 and self._settings.flatten_singleton_unions
        return union.branches[0] if single else others[0] if nullable else None

    def _draft(self, avro: AvroSchema) -> Draft:
        match avro.type:
            case AvroType.RECORD:
                return self._record(avro)
            case AvroType.ENUM:
                return self._enum(avro)
            case AvroType.UNION:
                return self._union(avro)
            case AvroType.ARRAY | AvroType.MAP:
                return self._collection(avro)
            case AvroType.NULL:
                raise self._error("Standalone null schemas are not supported by this converter")
            case AvroType.REFERENCE:
                raise self._endless(f"type {avro.name}")
        return self._primitive(avro)

    def _primitive(self, avro: AvroSchema) -> Draft:
        logical = _LOGICAL.get((avro.type, avro.logical_type or ""))
        draft = Draft(self._plain_type(avro)) if logical is None else Draft(_PLAIN[avro.type], name=logical, version=1)
        if logical == DECIMAL:
            self._set_decimal(avro, draft)
        if avro.type is AvroType.FIXED:
            draft.parameters[names.FIXED_SIZE] = str(avro.size)
        return draft

    def _plain_type(self, avro: AvroSchema) -> SchemaType:
        annotation = avro.props.get("connect.type")
        if avro.type is not AvroType.INT or avro.logical_type is not None or not isinstance(annotation, str):
            return _PLAIN[avro.type]
        if annotation not in SMALL_INTEGERS:
            raise self._error(f"Connect type annotation for Avro int field is {annotation}, expected int8 or int16")
        return SMALL_INTEGERS[annotation]

    def _set_decimal(self, avro: AvroSchema, draft: Draft) -> None:
        scale, precision = avro.props.get("scale"), avro.props.get("precision")
        draft.parameters["scale"] = str(int(scale)) if is_number(scale) else "0"
        if precision is not None and not is_number(precision):
            raise self._error("precision property must be a JSON Integer")
        if precision is not None and int(precision) != names.DEFAULT_PRECISION:
            draft.parameters[names.PRECISION] = str(int(precision))
        self._check_scale(draft.built())

    def _record(self, avro: AvroSchema) -> Draft:
        draft = Draft(SchemaType.STRUCT)
        if self._keeps_types and avro.doc is not None:
            draft.parameters[names.RECORD_DOC] = avro.doc
        fields = []
        for member in avro.fields:
            if self._keeps_types and member.doc is not None:
                draft.parameters[names.FIELD_DOC + member.name] = member.doc
            with self._within(member.name):
                fields.append(Field(member.name, self._field(member)))
        draft.fields = tuple(fields)
        return draft

    def _field(self, member: AvroField) -> ConnectSchema:
        schema = self.schema(member.schema, default=member.default, doc=member.doc)
        own = member.props.get("connect.parameters")
        if not self._settings.connect_meta_data or not isinstance(own, dict):
            return schema
        given = {name: str(value) for name, value in own.items()}
        return ConnectSchema(**{**vars(schema), "parameters": {**(schema.parameters or {}), **given} or None})

    def _enum(self, avro: AvroSchema) -> Draft:
        draft, simple = Draft(SchemaType.STRING), names.split_name(avro.name or "")[1]
        discard = self._settings.discard_type_doc_default
        if self._settings.connect_meta_data and avro.doc is not None:
            draft.parameters[names.TYPE_ENUM_DOC if discard else names.ENUM_DOC + simple] = avro.doc
        if self._keeps_types and avro.default is not None:
            draft.parameters[names.ENUM_DEFAULT + simple] = avro.default
        generalized = self._settings.generalized_sum_type_support
        parameter = sums.ENUM if generalized else names.ENUM
        draft.parameters[parameter] = avro.name or ""
        for index, symbol in enumerate(avro.symbols):
            draft.parameters[f"{parameter}.{symbol}"] = str(index) if generalized else symbol
        return draft

    def _union(self, avro: AvroSchema) -> Draft:
        draft = Draft(SchemaType.STRUCT, name=names.UNION)
        if self._settings.generalized_sum_type_support:
            draft.name = f"{sums.UNION_NAME}{self._unions}"
            draft.parameters[sums.UNION] = draft.name
            self._unions += 1
        members: dict[str, ConnectSchema] = {}
        for index, branch in enumerate(avro.branches):
            if branch.type is AvroType.NULL:
                draft.optional = True
                continue
            name = member_name(branch, index, self._settings)
            if name in members:
                raise self._error(
                    f"Multiple union schemas map to the Connect union field name {name}: set "
                    "`enhanced.avro.schema.support` to true"
                )
            with self._within(name):
                members[name] = self.schema(branch, optional=True)
        draft.fields = tuple(Field(name, schema) for name, schema in members.items())
        return draft

    def _collection(self, avro: AvroSchema) -> Draft:
        if avro.type is AvroType.ARRAY and is_map_entry(avro.item_schema):
            return self._entries(avro.item_schema)
        with self._within("[]"):
            values = self.schema(avro.item_schema)
        if avro.type is AvroType.ARRAY:
            return Draft(SchemaType.ARRAY, value_schema=values)
        return Draft(SchemaType.MAP, key_schema=ConnectSchema(SchemaType.STRING), value_schema=values)

    def _entries(self, entry: AvroSchema) -> Draft:
        members = {member.name: member.schema for member in entry.fields}
        if members.keys() != {"key", "value"}:
            raise self._error(
                "Found map encoded as array of key-value pairs, but array elements do not match the expected format."
            )
        with self._within("[]"):
            keys, values = self.schema(members["key"]), self.schema(members["value"])
        if has_map(keys):
            raise self._error("Maps as keys of a map are not supported")
        return Draft(SchemaType.MAP, key_schema=keys, value_schema=values)

    def _default(self, schema: ConnectSchema, avro: AvroSchema, default: Any) -> Any:
        if default is NO_DEFAULT or default is None:
            return None
        try:
            return default_of_avro(schema, avro, default, self._settings)
        except InvalidDefault as error:
            self._ignored(error)
            return None
