"""What the errors of MySQL and MariaDB mean: they have numbers of their own."""

from __future__ import annotations

from airflow_kconnect.connectors.jdbc.facts.condition import Condition

# https://dev.mysql.com/doc/mysql-errors/8.4/en/server-error-reference.html, https://mariadb.com/kb/en/mariadb-error-codes
DUPLICATE = (1062, 1586)
NULL = (1048, 1364)
MISFIT = (1264, 1265, 1292, 1366, 1406, 1690, 3140, 4025)
_NUMBERS = {
    Condition.LOGIN: (1045, 1130, 1698),
    Condition.DATABASE: (1044, 1049),
    Condition.RIGHTS: (1142, 1143, 1227, 1370),
    Condition.READ_ONLY: (1290, 1792, 1836),
    Condition.PASSING: (
        *(1020, 1021, 1040, 1053, 1080, 1114, 1158, 1159, 1160, 1161, 1203, 1205, 1206, 1213, 1226, 1317, 1927, 1969),
        *(3024, 4031),
    ),
    # The others: a packet or row that is too large, foreign keys, views, partitions, checks, SIGNAL of a trigger.
    Condition.ROW: (*DUPLICATE, *NULL, *MISFIT, 1118, 1153, 1216, 1369, 1452, 1526, 1644, 3819),
}
_BY_NUMBER = {number: condition for condition, numbers in _NUMBERS.items() for number in numbers}


def by_number(number: int) -> Condition | None:
    """The meaning of an error number of MySQL or MariaDB; None: its SQL state must do. Those of clients pass."""
    return _BY_NUMBER.get(number, Condition.PASSING if 2000 <= number < 3000 else None)
