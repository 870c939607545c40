"""What errors mean in databases whose SQL states do not say it: by their numbers, or by their texts."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.facts.condition import Condition

_H2 = {
    Condition.PASSING: (90020, 90067, 90098, 90108, 90121, 90131),
    Condition.DATABASE: (90011, 90013, 90030, 90031, 90046, 90048, 90124, 90146, 90149),
}
_HSQLDB = {
    Condition.DATABASE: (404, 405, 465),
    Condition.PASSING: (402, 451, 460),
    Condition.READ_ONLY: (455,),
    # Its state is that of missing rights alone; the text says that it can also be a table or column that is not there.
    Condition.LASTING: (5501,),
}
_SQL_SERVER = {
    Condition.LOGIN: (18456, 18452, 18486, 18487, 18488),
    Condition.DATABASE: (4060,),
    Condition.PASSING: (1204, 1205, 1222, 3960, 9002, 40197, 40501, 40613, 49918, 49919, 49920),
    Condition.READ_ONLY: (3906,),
    Condition.ROW: (2628, 8114, 8115, 8152, 241, 242, 245, 248),
}
_ORACLE = {
    Condition.LOGIN: (1005, 1017, 28000, 28001),
    Condition.DATABASE: (12154, 12505, 12514),
    Condition.PASSING: (54, 60, 1033, 1034, 1089, 3113, 3114, 3135, 12170, 12516, 12519, 12520, 12528, 12541, 17002,
                        17008, 17410, 30006),
    Condition.READ_ONLY: (16000,),
    Condition.ROW: (1438, 1461, 1722, 12899),
}  # fmt: skip


def _by_number(conditions: dict[Condition, tuple[int, ...]]) -> dict[int, Condition]:
    return {number: condition for condition, numbers in conditions.items() for number in numbers}


_H2_NUMBERS, _HSQLDB_NUMBERS = map(_by_number, (_H2, _HSQLDB))
_SQL_SERVER_NUMBERS, _ORACLE_NUMBERS = map(_by_number, (_SQL_SERVER, _ORACLE))


def of_h2(number: int, message: str) -> Condition | None:
    return _H2_NUMBERS.get(number)


def of_hsqldb(number: int, message: str) -> Condition | None:
    """Most of its numbers are negative."""
    if "database alias does not exist" in message:
        return Condition.DATABASE
    return _HSQLDB_NUMBERS.get(abs(number))


def of_sql_server(number: int, message: str) -> Condition | None:
    return _SQL_SERVER_NUMBERS.get(number)


def of_oracle(number: int, message: str) -> Condition | None:
    return _ORACLE_NUMBERS.get(number)


def of_derby(number: int, message: str) -> Condition | None:
    """Its numbers only say how grave an error is."""
    if "authentication fail" in message:
        return Condition.LOGIN
    if "Another instance of Derby" in message or ("not found" in message and "Database" in message):
        return Condition.DATABASE
    return None
