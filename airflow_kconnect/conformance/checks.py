"""What a check is, and how one is made."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from airflow_kconnect.conformance.findings import Broken, DoesNotApply, Finding, Passed, Status
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.connect.errors import ConnectError, in_one_line


@dataclass(frozen=True)
class Check:
    """A check. :param text: what it does, in a few words."""

    name: str
    text: str
    look: Callable[[Lab], Passed]

    def finding(self, lab: Lab) -> Finding:
        """What it finds, without values of variables. :raises RetriableError: Kafka cannot be used."""
        found = self._found(lab)
        return replace(found, text=lab.resolver.hide(found.text))

    def _found(self, lab: Lab) -> Finding:
        try:
            passed = self.look(lab)
        except DoesNotApply as reason:
            return Finding(self.name, Status.DOES_NOT_APPLY, f"because {reason}")
        except Broken as broken:
            return Finding(self.name, Status.FAILED, str(broken), broken.missing, broken.doubled)
        except ConnectError:
            raise
        except Exception as error:  # the harness and the class are the user's code
            return Finding(self.name, Status.FAILED, f"the connector or its harness raised {in_one_line(error)}")
        return Finding(self.name, Status.PASSED, passed.text, doubled=passed.doubled, full_read=passed.full_read)


def chosen(checks: tuple[Check, ...], only: list[str]) -> tuple[Check, ...]:
    """Those whose names, or what is before their colon, are among `only`; all if it is empty."""
    return tuple(check for check in checks if not only or check.name in only or check.name.split(":")[0] in only)
