"""Spark's trees of SQL expressions: parsed, restricted to what is harmless, bound to columns, and made not to throw."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

from airflow_kconnect.transforms.sql.text import DENIED_FUNCTIONS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructField

Tree = Any
"""A Catalyst expression, in the JVM."""

_CATALYST = "org.apache.spark.sql.catalyst"
_EXPRESSIONS = f"{_CATALYST}.expressions"
_ALIAS, _CAST, _LAMBDA, _LITERAL = (f"{_EXPRESSIONS}.{name}" for name in ("Alias", "Cast", "LambdaFunction", "Literal"))
_COLUMN, _STAR = f"{_CATALYST}.analysis.UnresolvedAttribute", f"{_CATALYST}.analysis.UnresolvedStar"
_FUNCTION, _ELEMENT = f"{_CATALYST}.analysis.UnresolvedFunction", f"{_CATALYST}.analysis.UnresolvedExtractValue"
_PATH = f"{_EXPRESSIONS}.SemiStructuredExtract"
_UNNAMED = f"{_EXPRESSIONS}.NamePlaceholder$"
_NAMES = (_COLUMN, f"{_EXPRESSIONS}.UnresolvedNamedLambdaVariable")
_NO_EXPRESSIONS = {
    f"{_EXPRESSIONS}.PlanExpression": "Subqueries are not supported",
    f"{_EXPRESSIONS}.WindowExpression": "Window functions are not supported",
    f"{_EXPRESSIONS}.aggregate.AggregateExpression": "Aggregate functions are not supported",
}
# What Spark can evaluate without a record or a table.
_CONSTANTS = ("current_date", "current_timestamp")
_GROUPS = frozenset(
    f"{group}_funcs"
    for group in (
        *("array", "bitwise", "collection", "conditional", "conversion", "csv", "datetime", "hash", "json", "lambda"),
        *("map", "math", "misc", "predicate", "string", "struct", "url", "variant", "vector"),
    )
)
# They turn one row into several, or several into one, whatever group they belong to.
_NO_FUNCTIONS_OF_ONE_ROW = {"json_tuple", "schema_of_variant_agg", "session_window", "window", "window_time"}


class SQLError(ValueError):
    """An expression is wrong, regardless of the records."""


class Names(Protocol):
    """Resolves the names in an expression."""

    def is_schemaless(self, name: str) -> bool:
        """Whether a name refers to VARIANTs."""
        ...

    def column_of(self, path: Sequence[str | int]) -> Column:
        """The column for a name followed by member steps; a number is a position in a list.

        :raises DataError: there is no such member.
        """
        ...


class Catalyst:
    """Access to what PySpark has no interface for."""

    def __init__(self, spark: SparkSession) -> None:
        assert spark._jvm is not None
        self._jvm: Any = spark._jvm
        self._parser = spark._jsparkSession.sessionState().sqlParser()
        self._problems: dict[str, str | None] = {}
        # Each step through a package is a call to the JVM.
        self._columns = self._jvm.org.apache.spark.sql.classic.ExpressionUtils
        self._try = self._jvm.org.apache.spark.sql.catalyst.expressions.TryEval
        self._identifier = self._jvm.org.apache.spark.sql.catalyst.FunctionIdentifier
        self._functions = self._jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin()

    def parse(self, text: str) -> Tree:
        """The tree of one expression, which may have an alias.

        :raises SQLError: its syntax is wrong, or it uses something that is not allowed.
        """
        from pyspark.errors import ParseException

        try:
            tree = self._parser.parseExpression(text)
        except ParseException as error:
            raise SQLError(readable(error)) from error
        if class_name(tree) != _STAR:
            self._check(tree)
        return tree

    def bind(self, tree: Tree, names: Names) -> Column:
        """The column for an expression.

        :raises DataError: see `Names`.
        """
        from pyspark.sql.classic.column import Column

        def bound(tree: Tree, inner: frozenset[str]) -> Tree:
            if class_name(tree) in _NAMES:
                parts = parts_of(tree)
                own = parts[0] in inner or parts[0].lower() in _CONSTANTS
                return tree if own else self._tree(names.column_of(parts))
            path = _steps(tree)
            if path and path[0] not in inner and names.is_schemaless(str(path[0])):
                # Spark does not support brackets on VARIANTs.
                return self._tree(names.column_of(path))
            inner |= _lambda_names(tree)
            children = [bound(child, inner) for child in self._with_visible_names(_children(tree))]
            return tree.withNewChildren(self._seq(children)) if children else tree

        return Column(self._columns.column(bound(tree, frozenset())))

    def analysed(self, rows: DataFrame, column: Column) -> StructField:
        """Type and nullability of a column of these rows.

        :raises AnalysisException: the rows have no such column.
        :raises SQLError: its values do not depend on the record alone.
        """
        selected = rows.select(column.alias("v"))
        if not selected._jdf.queryExecution().analyzed().expressions().apply(0).deterministic():
            raise SQLError("The result must depend on nothing but the record")
        return selected.schema["v"]

    def tried(self, column: Column) -> Column:
        """STRUCT<v> of the column, null in rows where it throws."""
        from pyspark.sql import functions as F
        from pyspark.sql.classic.column import Column

        tried = self._try(self._tree(F.struct(column.alias("v"))))
        # Catalyst computes common subexpressions beforehand, outside of the try, where they would throw. It extracts
        # nothing from a CASE, and it cannot know that this condition is always true.
        return F.when(F.spark_partition_id() >= 0, Column(self._columns.column(tried)))

    def _with_visible_names(self, children: list[Tree]) -> list[Tree]:
        """Members of a struct with their visible names: users do not know the names of columns."""
        from pyspark.sql import functions as F

        members = [*children]
        for index, (child, item) in enumerate(pairwise(children)):
            if class_name(child) == _UNNAMED and (name := alias_of(item)[1]):
                members[index] = self._tree(F.lit(name))
        return members

    def _tree(self, column: Column) -> Tree:
        return self._columns.expression(column._jc)

    def _seq(self, items: Iterable[Any]) -> Any:
        return self._jvm.PythonUtils.toSeq(list(items))

    def _check(self, tree: Tree) -> None:
        """:raises SQLError: something in the tree is not allowed."""
        name = class_name(tree)
        if problem := self._problem(name, tree):
            raise SQLError(problem)
        if name == _FUNCTION:
            self._check_function([str(part) for part in _items(tree.nameParts())])
        elif name == _STAR:
            raise SQLError("A star is only supported as value.* or key.*, by itself")
        elif name.startswith(f"{_CATALYST}.analysis.") and name not in (_COLUMN, _ELEMENT):
            raise SQLError(f"{name.rpartition('.')[2]} is not supported")
        for child in _children(tree):
            self._check(child)

    def _problem(self, name: str, tree: Tree) -> str | None:
        """Why such a class is not allowed in a tree."""
        if name not in self._problems:
            self._problems[name] = next(
                (_NO_EXPRESSIONS[base] for base in _bases(tree) if base in _NO_EXPRESSIONS), None
            )
        return self._problems[name]

    def _check_function(self, parts: list[str]) -> None:
        name = parts[-1].lower()
        info = self._functions.lookupFunction(self._identifier(name))
        if len(parts) > 1 or info.isEmpty():
            raise SQLError(f"{'.'.join(parts)} is not a function of Spark")
        group = info.get().getGroup()
        if name in DENIED_FUNCTIONS:
            raise SQLError(f"Function {name} is not allowed")
        if group not in _GROUPS or name in _NO_FUNCTIONS_OF_ONE_ROW:
            raise SQLError(f"Function {name} is not supported ({group})")


def class_name(tree: Tree) -> str:
    """Name of the Java class."""
    return str(tree.getClass().getName())


def parts_of(tree: Tree) -> list[str]:
    """The parts of a dotted name."""
    return [str(part) for part in _items(tree.nameParts())]


def path_of(tree: Tree) -> list[str] | None:
    """The parts if the expression is just a dotted name."""
    return parts_of(tree) if class_name(tree) == _COLUMN else None


def star_of(tree: Tree) -> list[str] | None:
    """The parts before the star in ``value.*``; empty for a star alone."""
    if class_name(tree) != _STAR:
        return None
    return [str(part) for part in _items(tree.target().get())] if tree.target().isDefined() else []


def alias_of(tree: Tree) -> tuple[Tree, str | None, bool]:
    """The expression without its alias, its name, and whether the user gave that name."""
    if class_name(tree) == _CAST:
        return tree, alias_of(tree.child())[1], False
    if class_name(tree) != _ALIAS:
        path = path_of(tree)
        return tree, path[-1] if path else None, False
    name, child = str(tree.name()), tree.child()
    # The parser itself names `value:a.b`.
    return (tree, name, False) if class_name(child) == _PATH else (child, name, True)


def names_in(tree: Tree, inner: frozenset[str] = frozenset()) -> set[str]:
    """The column names that an expression refers to: the first parts of dotted names."""
    if class_name(tree) in _NAMES:
        name = parts_of(tree)[0]
        return set() if name in inner or name.lower() in _CONSTANTS else {name}
    inner |= _lambda_names(tree)
    return set().union(*(names_in(child, inner) for child in _children(tree)))


def readable(error: Exception) -> str:
    """The message of an error from Spark's parser or analyser, without its codes and the plan."""
    text = str(error).strip().splitlines()[0]
    return text.partition("] ")[2].partition(" SQLSTATE:")[0] or text


def _steps(tree: Tree) -> list[str | int]:
    """The path of a dotted name with brackets; empty for other expressions."""
    if class_name(tree) == _COLUMN:
        return [*parts_of(tree)]
    if class_name(tree) != _ELEMENT or class_name(tree.extraction()) != _LITERAL:
        return []
    path, step = _steps(tree.child()), tree.extraction()
    known = {"string": str, "int": int}.get(step.dataType().simpleString())
    return [*path, known(step.value().toString() if known is str else step.value())] if path and known else []


def _lambda_names(tree: Tree) -> set[str]:
    if class_name(tree) != _LAMBDA:
        return set()
    return {parts_of(argument)[0] for argument in _items(tree.arguments())}


def _children(tree: Tree) -> list[Tree]:
    return _items(tree.children())


def _items(seq: Any) -> list[Any]:
    return [seq.apply(index) for index in range(seq.size())]


def _bases(tree: Tree) -> Iterator[str]:
    """Names of the class and its superclasses."""
    kind = tree.getClass()
    while kind is not None:
        yield str(kind.getName())
        kind = kind.getSuperclass()
