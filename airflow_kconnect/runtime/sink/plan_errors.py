"""What a run of a planned sink says if a plan cannot be completed as it is."""

from __future__ import annotations

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.stores.sink_plans import PlanState


def contradiction(name: str, plan: SinkPlan) -> RetriableError:
    """About a plan that a row has stopped, if no such row is found afterwards: a broker may have failed meanwhile."""
    return RetriableError(
        f"connector {name}: a record has stopped plan {plan.identity} from being written, and none is found that must"
        " not be skipped; no offsets were committed"
    )


def altered(name: str, state: PlanState) -> RunWarning:
    text = (
        f"an interrupted run has announced plan {state.number} to {', '.join(state.announced)}, and offsets were"
        " altered since then: it is not completed. What the tables have of it, they keep"
    )
    return RunWarning(Kind.OFFSETS, f"connector {name}: {text}")


def unreadable(name: str, state: PlanState, topic_partition: TopicPartition) -> DataError:
    tables = ", ".join(state.announced)
    return DataError(
        f"connector {name}: an interrupted run has announced offsets {state.plan.start[topic_partition]} to"
        f" {state.plan.end[topic_partition] - 1} of {topic_partition} to {tables}, and not all of them can be read any"
        " more. Compare the tables with the topic, then alter the connector's offsets (`kconnect offsets alter`): the"
        " plan is dropped, and runs resume there"
    )


def judged_otherwise(name: str, plan: SinkPlan, written: tuple[int, ...], judged: tuple[int, ...]) -> RetriableError:
    """:param written: how many records were good, dropped and bad for the tables. :param judged: afterwards."""
    first, second = ("{:,} good, {:,} filtered and {:,} bad".format(*counts) for counts in (written, judged))
    return RetriableError(
        f"connector {name}: there were {first} records when plan {plan.identity} was written, and {second} when its bad"
        " ones were looked for; no offsets were committed. A broker or a registry failed meanwhile, and the next run"
        " writes the plan again; or a transformation answers differently each time"
    )
