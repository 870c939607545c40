"""Names of tables and columns in SQL text, quoted so that no name can be more than a name."""

from __future__ import annotations


def quote(name: str, mark: str = '"') -> str:
    """Quoted SQL identifier; the mark is doubled where it is part of the name.

    :param mark: the character that the database quotes with.
    :raises ValueError: the name is empty or has a NUL, which no database takes.
    """
    if not name:
        raise ValueError("the name of a table or column must not be empty")
    if "\0" in name:
        raise ValueError(f"the name {name!r} has a NUL character")
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"
