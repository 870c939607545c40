"""SQL expressions as texts: checks that need no Spark."""

from __future__ import annotations

import re
from typing import NamedTuple

from airflow_kconnect.connect.config.validators import LambdaValidator, Validator, nullable

# What runs code, reads files, or reveals something about the session or the location where a record is processed.
DENIED_FUNCTIONS = frozenset(
    {"reflect", "java_method", "try_reflect"}
    | {"from_avro", "to_avro", "schema_of_avro", "from_protobuf", "to_protobuf", "from_xml", "to_xml", "schema_of_xml"}
    | {"input_file_name", "input_file_block_start", "input_file_block_length"}
    | {"current_catalog", "current_database", "current_path", "current_schema"}
    | {"current_user", "session_user", "user", "version", "spark_partition_id", "monotonically_increasing_id"}
)

_TOKEN = re.compile(
    r"""
    (?P<blank>\s+)
    | (?P<comment>--|/\*)
    | (?P<text>[rR](?:'[^']*'|"[^"]*")|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    | (?P<quoted>`(?:[^`]|``)*`)
    | (?P<word>[^\W\d]\w*)
    | (?P<number>\d\w*)
    | (?P<other>[^'"`])
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class _Token(NamedTuple):
    kind: str
    text: str
    start: int


def list_validator() -> Validator:
    """Validator for expressions that may be lists."""
    return nullable(LambdaValidator(lambda key, expression: _problem(expression)))


def single_validator() -> Validator:
    """Validator for expressions with a single result."""

    def problem(key: str, expression: str) -> str | None:
        syntax_problem = _problem(expression)
        return syntax_problem or ("Expected one expression, found a list" if len(split(expression)) > 1 else None)

    return nullable(LambdaValidator(problem))


_LONGEST = 50_000


def split(expression: str) -> list[str]:
    """The expressions of a list, in order."""
    depth, start, items = 0, 0, []
    for token in _tokens(expression):
        depth += (token.text in _CLOSING) - (token.text in _CLOSING.values())
        if token.text == "," and depth == 0:
            items.append(expression[start : token.start].strip())
            start = token.start + 1
    return [*items, expression[start:].strip()]


def words(expression: str) -> set[str]:
    """All names of columns, members and functions in an expression, and its keywords."""
    return {token.text.strip("`") for token in _tokens(expression) if token.kind in ("word", "quoted")}


def _problem(expression: str) -> str | None:
    if not expression.strip():
        return "Expression must not be empty"
    if len(expression) > _LONGEST:
        return f"It has {len(expression)} characters; at most {_LONGEST} are accepted"
    if sum(len(token.text) for token in _tokens(expression)) < len(expression):
        return "A quote is not closed"
    tokens = [token for token in _tokens(expression) if token.kind != "blank"]
    if any(token.kind == "comment" for token in tokens):
        return "Comments are not supported"
    return _unbalanced(tokens) or _denied(tokens) or (None if all(split(expression)) else "The list has an empty item")


def _tokens(expression: str) -> list[_Token]:
    """The tokens up to the first unclosed quote."""
    tokens, start = [], 0
    while match := _TOKEN.match(expression, start):
        tokens.append(_Token(str(match.lastgroup), match[0], start))
        start = match.end()
    return tokens


def _unbalanced(tokens: list[_Token]) -> str | None:
    expected: list[str] = []
    for token in tokens:
        if token.text in _CLOSING:
            expected.append(_CLOSING[token.text])
        elif token.text in _CLOSING.values() and (not expected or token.text != expected.pop()):
            return f"'{token.text}' at character {token.start + 1} closes nothing"
    return f"'{expected[-1]}' is missing" if expected else None


def _denied(tokens: list[_Token]) -> str | None:
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        if token.kind not in ("word", "quoted") or (before is not None and before.text in (".", ":")):
            continue
        name = token.text.strip("`").lower()
        if token.kind == "word" and name == "select":
            return "Subqueries are not supported"
        if name in DENIED_FUNCTIONS and after is not None and after.text == "(":
            return f"Function {name} is not allowed"
    return None
