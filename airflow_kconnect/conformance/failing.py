"""Whether a connector that fails tells its user what to do: by the exit code of its run."""

from __future__ import annotations

from airflow_kconnect.conformance.findings import Broken, DoesNotApply, Passed
from airflow_kconnect.conformance.harness import Failure, has
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.runs.events import EXIT_CONFIG_OR_DATA, EXIT_RETRIABLE

_CODES = {
    Failure.RETRIABLE: EXIT_RETRIABLE,
    Failure.DATA: EXIT_CONFIG_OR_DATA,
    Failure.CONFIG: EXIT_CONFIG_OR_DATA,
    Failure.OTHER: EXIT_CONFIG_OR_DATA,
}
_NAMES = {Failure.RETRIABLE: "RetriableError", Failure.DATA: "DataError", Failure.CONFIG: "ConfigError"}


def failures(lab: Lab) -> Passed:
    """Each kind of failure has its exit code, and the next run moves everything."""
    with lab.trial() as trial:
        if not has(trial.harness, "fail"):
            raise DoesNotApply("the connector cannot be made to fail: give the harness the method `fail`")
        for failure, code in _CODES.items():
            trial.harness.fail(failure)
            ended = trial.attempt()
            if ended.exit_code != code:
                cure = f"raise {_NAMES[failure]}" if failure in _NAMES else "let the exception through"
                raise Broken(f"a {failure} failure ended a run with exit code {ended.exit_code} and not {code}: {cure}")
        trial.harness.fail(None)
        trial.run()
        trial.judged("after runs that failed", may_double=True)
    return Passed(f"{', '.join(_CODES)} failures end runs with exit codes {', '.join(map(str, _CODES.values()))}")
