"""When the thread of a task is at work, by its state and stack."""

from __future__ import annotations

import pytest

from airflow_kconnect.hosted.jvm.threads import own_threads, task_threads, works

PARK = "java.base@17.0.10/jdk.internal.misc.Unsafe.park(Native Method)"
SLEEP = "java.base@17.0.10/java.lang.Thread.sleep(Native Method)"
SELECT = "java.base@17.0.10/sun.nio.ch.EPoll.wait(Native Method)"
READ = "java.base@17.0.10/sun.nio.ch.SocketDispatcher.read0(Native Method)"
POLL = "app//org.apache.kafka.connect.runtime.AbstractWorkerSourceTask.poll(AbstractWorkerSourceTask.java:488)"
PUT = "app//org.apache.kafka.connect.runtime.WorkerSinkTask.deliverMessages(WorkerSinkTask.java:606)"
CONSUME = "app//org.apache.kafka.connect.runtime.WorkerSinkTask.pollConsumer(WorkerSinkTask.java:490)"
START = "app//org.apache.kafka.connect.runtime.ExactlyOnceWorkerSourceTask.initializeAndStart(X.java:120)"


@pytest.mark.parametrize(
    ("state", "innermost", "asked", "at_work"),
    [
        pytest.param("TIMED_WAITING", SLEEP, POLL, False, id="a source waits for something new"),
        pytest.param("WAITING", PARK, POLL, False, id="a source waits for its queue"),
        pytest.param("RUNNABLE", SELECT, POLL, False, id="a source is a Kafka client that waits"),
        pytest.param("RUNNABLE", READ, POLL, True, id="a source reads from a socket"),
        pytest.param("RUNNABLE", "a.Connector.compute(C.java:1)", POLL, True, id="a source computes"),
        pytest.param("TIMED_WAITING", PARK, START, True, id="a task still starts its producer"),
        pytest.param("RUNNABLE", SELECT, CONSUME, False, id="a sink waits for records"),
        pytest.param("WAITING", PARK, PUT, True, id="a sink waits for its target"),
        pytest.param("BLOCKED", "", "", True, id="a thread without frames has not begun"),
    ],
)
def test_only_waiting_for_records_is_idle(state: str, innermost: str, asked: str, at_work: bool) -> None:
    assert works(state, [frame for frame in (innermost, asked) if frame]) is at_work


def test_threads_of_a_connector_whose_name_begins_alike_are_not_its_own() -> None:
    assert task_threads("a").fullmatch("task-thread-a-0")
    assert not task_threads("a").fullmatch("task-thread-a-0-0")
    assert own_threads("a").fullmatch("connector-thread-a")
    assert not own_threads("a").fullmatch("connector-thread-a-0")
