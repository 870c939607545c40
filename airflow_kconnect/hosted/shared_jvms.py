"""JVMs that the runs of hosted connectors in one process share, see decision 0055.

A job that runs one connector has one JVM, from the start of its worker to its end. A job of several opens `shared_jvms`
around them: a JVM then stays for the next run, and several runs at once are in it, each with a Connect worker of its
own.
"""

from __future__ import annotations

import contextlib
import logging
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from airflow_kconnect.hosted.installing.provision import PluginPath
from airflow_kconnect.hosted.jvm.gateway import HostGateway
from airflow_kconnect.hosted.jvm.jvm import HostJvm, JvmConnection
from airflow_kconnect.hosted.jvm.own_classes import own_jar
from airflow_kconnect.hosted.sharing import Occupancy, Tenant
from airflow_kconnect.machine.java import Java

log = logging.getLogger("kconnect.hosted")


@dataclass(frozen=True)
class Needs:
    """What a run needs of its JVM: only runs with equal needs share one.

    :param class_path: of Connect's runtime.
    :param plugins: a plug-in that is in two of them would be loaded twice, which those with native libraries do not
        bear.
    """

    java: Java
    class_path: tuple[Path, ...]
    plugins: PluginPath


class _Jvm:
    """One JVM with its folder. Make it, `start`, `end`."""

    def __init__(self, needs: Needs, heap_mb: int) -> None:
        self.needs, self.occupancy = needs, Occupancy(heap_mb)
        self.is_worn_in = False
        """Whether a run in it has got to its end, so that it has loaded the classes that runs need."""
        self.is_given_up = False
        self._temporary = tempfile.TemporaryDirectory(prefix="kconnect-host-", ignore_cleanup_errors=True)
        self.folder = Path(self._temporary.name)
        self.plugin_properties = needs.plugins.properties(self.folder)
        own = own_jar(needs.java, needs.class_path, self.folder, log.info)
        self.java = HostJvm(needs.java, [*needs.class_path, own], self.folder, memory=f"{heap_mb}m")

    def takes(self, needs: Needs, tenant: Tenant) -> bool:
        """Whether a run can be in it."""
        return self.needs == needs and self.occupancy.has_room(tenant) and self.java.is_alive

    def end(self) -> None:
        """End it, and remove its folder."""
        if self.is_worn_in and not self.is_given_up and self.java.is_alive:
            self.java.finish()
        else:
            self.java.kill()
        self._temporary.cleanup()


class Lease:
    """A run's place in a JVM."""

    def __init__(self, jvm: _Jvm, tenant: Tenant, gateway: JvmConnection) -> None:
        self._jvm, self._tenant = jvm, tenant
        self.gateway: HostGateway = gateway
        """The run's own connection, with a folder that is private to the run."""
        self.is_shared = not tenant.alone
        """Whether other runs may be in it at the same time, or later."""
        self.plugin_properties = jvm.plugin_properties
        """`plugin.path` and `plugin.discovery` of its worker."""

    def others(self) -> list[str]:
        """The other connectors that are in the JVM now."""
        return self._jvm.occupancy.others(self._tenant)

    def give_up(self) -> None:
        """Something of the run is still at work and cannot be stopped: the JVM takes no other run, and ends with the
        last of those that are in it.
        """
        self._jvm.occupancy.is_closed = self._jvm.is_given_up = True

    def has_got_to_its_end(self) -> None:
        """The run has stopped as it should."""
        self._jvm.is_worn_in = True


class JvmPool:
    """JVMs for runs, each started when the first run needs it. Use it as a context manager.

    :param places: how many runs there are at most at the same time: a JVM gets a heap that has room for that number of
        runs like the one for which it is started.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self._lock = threading.Lock()
        self._jvms: list[_Jvm] = []
        # Linux ends a JVM with the thread that has started it: a run's own thread ends before it.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="hosted-jvms")

    def __enter__(self) -> JvmPool:
        return self

    def __exit__(self, *error: object) -> None:
        with self._lock:
            for jvm in self._jvms:
                jvm.end()
            self._jvms.clear()
        self._starter.shutdown()

    @contextlib.contextmanager
    def lease(self, needs: Needs, tenant: Tenant) -> Iterator[Lease]:
        """A place in a JVM that has room, or in a new one.

        :raises ConnectError: it cannot be started.
        """
        with self._lock:  # a second run that needs the same waits for the JVM that the first one starts
            jvm = self._jvm_for(needs, tenant)
            jvm.occupancy.enter(tenant)
        try:
            with tempfile.TemporaryDirectory(dir=jvm.folder, ignore_cleanup_errors=True) as folder:
                gateway = jvm.java.connect(Path(folder))
                try:
                    yield Lease(jvm, tenant, gateway)
                finally:
                    gateway.close()
        finally:
            self._leave(jvm, tenant)

    def _jvm_for(self, needs: Needs, tenant: Tenant) -> _Jvm:
        for jvm in self._jvms:
            if jvm.takes(needs, tenant):
                return jvm
        jvm = _Jvm(needs, tenant.memory_mb * (1 if tenant.alone else self._places))
        try:
            self._starter.submit(jvm.java.start).result()
        except BaseException:
            jvm.end()
            raise
        self._jvms.append(jvm)
        return jvm

    def _leave(self, jvm: _Jvm, tenant: Tenant) -> None:
        with self._lock:
            jvm.occupancy.leave(tenant)
            if not jvm.java.is_alive:
                jvm.occupancy.is_closed = True
            if jvm.occupancy.is_over and jvm in self._jvms:
                self._jvms.remove(jvm)
                jvm.end()


_pool: JvmPool | None = None


@contextlib.contextmanager
def shared_jvms(places: int) -> Iterator[None]:
    """Have the hosted runs of this process share JVMs within this context, in whichever threads they are. All JVMs end
    with it, so that runs must have ended before.

    :param places: how many hosted runs there are at most at the same time.
    """
    global _pool
    assert _pool is None
    with JvmPool(max(places, 1)) as _pool:
        try:
            yield
        finally:
            _pool = None


@contextlib.contextmanager
def leased(needs: Needs, tenant: Tenant) -> Iterator[Lease]:
    """A place for a run: in a JVM that it shares, or in one of its own, which ends with it.

    :raises ConnectError: no JVM can be started.
    """
    if (pool := _pool) is not None:
        with pool.lease(needs, tenant) as lease:
            yield lease
        return
    with JvmPool(1) as own, own.lease(needs, replace(tenant, alone=True)) as lease:
        yield lease
