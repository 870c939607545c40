"""What is on both sides, before anything is changed: the connectors of a cluster, judged and compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.migration.assessment import Assessment, Verdict, assess
from airflow_kconnect.migration.cluster import ClusterFacts, ConnectCluster, ConnectorThere
from airflow_kconnect.migration.folder import ConnectorFolder
from airflow_kconnect.migration.here import Here
from airflow_kconnect.migration.offsets import Comparison, compare
from airflow_kconnect.stores.handovers import Handover

# Keys that say where offsets are. A file that changes them would look elsewhere.
_IDENTITY = ("offsets.storage.topic", "consumer.override.group.id")
_LOOKS = 3  # a first commit is rare: a second one between the next two looks more so


@dataclass
class Candidate:
    """A connector that may move.

    :param config: what would run here, with `name` in it: of its file, if there is one, else of Connect.
    :param edited: keys whose values the file has changed.
    :param handover: how far it has moved; None if it has not.
    :param offsets: None if they were not compared.
    """

    there: ConnectorThere
    config: Mapping[str, Any] = field(repr=False)
    assessment: Assessment
    edited: tuple[str, ...] = ()
    handover: Handover | None = None
    offsets: Comparison | None = None

    @property
    def name(self) -> str:
        """Its name, the same on both sides."""
        return self.there.name

    @property
    def has_moved(self) -> bool:
        """Whether it is here, or on its way here or back."""
        return self.handover not in (None, Handover.RETURNED)

    @property
    def can_move(self) -> bool:
        """Whether nothing that is known forbids it."""
        return self.assessment.verdict is Verdict.READY


@dataclass
class Survey:
    """What was found.

    :param problems: what forbids every move.
    :param warnings: about both clusters.
    """

    cluster: ClusterFacts
    candidates: list[Candidate]
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def survey(
    cluster: ConnectCluster,
    here: Here | None,
    folder: ConnectorFolder | None,
    names: Collection[str] = (),
    *,
    other_cluster: bool = False,
) -> Survey:
    """Look at both sides; changes nothing.

    :param here: None if no worker is known: then only configurations are judged.
    :param names: only these connectors; empty for all.
    :param other_cluster: whether the user knows that Kafka here is another cluster than Connect's.
    :raises ConfigError: a name does not exist in Connect.
    :raises ServerError: Connect refuses the login, or the address is not Connect's.
    :raises RetriableError: Connect or Kafka is unavailable.
    """
    facts = cluster.facts()
    connectors = cluster.connectors()
    if unknown := sorted(set(names) - connectors.keys()):
        known = ", ".join(connectors) or "none"
        raise ConfigError({"--connector": [f"Connect has no connector {name}; it has: {known}" for name in unknown]})
    result = Survey(facts, [])
    if here is not None:
        _compare_clusters(result, here, other_cluster)
    classes = cluster.plugins()
    for name in names or connectors:
        candidate = _candidate(connectors[name], here, folder, classes)
        if here is not None:
            _compare(candidate, cluster, here)
        result.candidates.append(candidate)
    return result


def _compare_clusters(result: Survey, here: Here, other_cluster: bool) -> None:
    """Connect does not tell its topics and its group; what can be seen of them from outside is compared."""
    if problem := here.problem_of_config_topic():
        result.problems.append(problem)
    kafka = here.kafka_cluster()
    if kafka != result.cluster.kafka_cluster:
        text = f"Connect uses the Kafka cluster {result.cluster.kafka_cluster}, the worker here {kafka}"
        if other_cluster:
            result.warnings.append(f"{text}: offsets of sinks must mean the same records in both")
        else:
            result.problems.append(f"{text}: with --other-cluster connectors move to another cluster")
    elif not here.has_workers_in_group():
        result.warnings.append(
            f"no worker of Connect is in group {here.worker.group_id}: if the cluster is running, `group.id` here is "
            "not that of its worker file, and offsets are copied between topics. A task of a source that has not "
            "ended in Connect, although Connect says so, is not fenced then"
        )


def _candidate(
    there: ConnectorThere, here: Here | None, folder: ConnectorFolder | None, classes: Collection[str]
) -> Candidate:
    original = {**there.config, "name": there.name}
    own = folder.read(there.name) if folder else None
    config = original if own is None else own
    assessment = assess(config, there.kind, here.props if here else None, list(classes))
    assessment.notes += _notes(there)
    edited = tuple(sorted(key for key in {*original, *config} if original.get(key) != config.get(key)))
    for key in _IDENTITY:
        if key in edited:
            assessment.add_problem(key, "has another value in the file than in Connect: the offsets are elsewhere then")
    return Candidate(there, config, assessment, edited)


def _notes(there: ConnectorThere) -> list[str]:
    if there.trace:
        return [f"has failed in Connect: {there.trace}"]
    if there.state == "PAUSED":
        return [f"is PAUSED in Connect, and is started here once it has moved: then `kconnect pause {there.name}`"]
    return []


def _compare(candidate: Candidate, cluster: ConnectCluster, here: Here) -> None:
    candidate.handover = here.handover(candidate.name)
    if candidate.handover is not None and candidate.handover.counts_here and not candidate.there.is_stopped:
        state = candidate.there.state
        candidate.assessment.notes.append(f"has moved here, but is {state} in Connect: both may run it. Stop it there")
    if not candidate.can_move:
        return
    try:
        here.resolved(candidate.config)
        candidate.offsets = _offsets(candidate, cluster, here)
    except ConfigError as error:
        for key, texts in error.errors.items():
            for text in texts:
                candidate.assessment.add_problem(key, text)
    except ConnectError as error:
        candidate.assessment.add_problem("offsets", str(error))
    else:
        _check_offsets(candidate, candidate.offsets)


def _offsets(candidate: Candidate, cluster: ConnectCluster, here: Here) -> Comparison:
    """Both sides' offsets. A running connector that commits a partition for the first time between the two looks seems
    to have it on one side only: then both are looked at again."""
    for _ in range(_LOOKS):
        found = compare(cluster.offsets(candidate.name), here.offsets(candidate.config))
        if found.same_partitions or candidate.there.is_stopped:
            break
    return found


def _check_offsets(candidate: Candidate, offsets: Comparison) -> None:
    if candidate.handover is not None or offsets.equal or not offsets.here:
        return
    moving = not candidate.there.is_stopped and offsets.same_partitions
    if not moving:
        candidate.assessment.add_problem("offsets", foreign_offsets(candidate.name, offsets))


def foreign_offsets(name: str, offsets: Comparison) -> str:
    """Why a connector is not moved that has offsets here without a recorded move."""
    return (
        f"{offsets}. No move of {name} is on record, so it is not known which of them count. If those in Connect do, "
        f"`kconnect stop` it and `kconnect offsets reset` it here first; if those here do, it has moved already"
    )
