"""Members on other processes: results as alone, workers that die."""

import os
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import flexarm as fa
from flexarm.sweeps import executors
from flexarm.sweeps.case import SweepCase
from flexarm.sweeps.ensemble.job import Job
from flexarm.sweeps.executors import pack_job
from tests.sweeps import cases
from tests.sweeps.cases import BAR, known, swept

MASSES = np.linspace(1.0, 4.0, 31)  # 2.0 among them


@pytest.fixture(scope="module")
def pool():
    with ProcessPoolExecutor(2) as executor:
        yield executor


def killed_after(pids, seconds):
    def kill():
        time.sleep(seconds)
        os.kill(pids[0], 9)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def test_threads_give_what_one_thread_gives():
    with ThreadPoolExecutor(3) as executor:
        found = swept(MASSES, executor=executor, measure=["tip"])
    assert found.equals(swept(MASSES, measure=["tip"]))


def test_warnings_of_threads_belong_to_their_members():
    limp = fa.library.two_link_arm().with_({"links.upper.flexible.stiffening": "none"})
    over, options = {"torque.upper": [0.0, 3.0] * 3}, {"torque": {"upper": 0.0}, "native": False, "measure": ["tip"]}
    with ThreadPoolExecutor(3) as executor, pytest.warns(UserWarning, match="3 of 6 members warn"):
        found = fa.sweep(limp, over, 0.1, executor=executor, **options)
    assert [bool(each) for each in found["warnings"].values] == [False, True] * 3


def test_processes_give_what_this_one_gives(pool):
    found = swept(MASSES, executor=pool)
    assert found["angle"].values == pytest.approx(known(MASSES))
    assert found.equals(swept(MASSES))


def test_notes_of_workers_are_heard(monkeypatch):
    def refuses(self, *given):
        raise ArithmeticError("no lanes today")

    monkeypatch.setattr(Job, "_batch", refuses)
    with ThreadPoolExecutor(2) as executor:
        found = swept(MASSES, executor=executor, native=True)
    assert "members run one by one: ArithmeticError: no lanes today" in found.attrs["notes"]
    assert found["angle"].values == pytest.approx(known(MASSES))


def test_histories_come_back_from_processes(pool):
    found = swept([1.0, 2.0], executor=pool, keep="runs")
    assert [cases.angle(run) for run in found["run"].values] == pytest.approx(known([1.0, 2.0]))


def test_functions_of_a_notebook_are_sent_along(pool):
    factor = 2.0
    found = swept([1.0, 2.0], executor=pool, measure={"twice": lambda run: factor * cases.angle(run)})
    assert found["twice"].values == pytest.approx(2 * known([1.0, 2.0]))


def test_what_cannot_be_sent_is_told_by_name():
    lock = threading.Lock()
    job = Job(SweepCase(BAR, 1.0), {"peak": lambda run: lock}, False)
    with pytest.raises(TypeError, match=r"measure 'peak' = .* cannot be sent to other processes"):
        pack_job(job, by_value=True)


def test_a_process_that_dies_costs_nothing_but_time():
    with ProcessPoolExecutor(2) as executor:
        executor.submit(os.getpid).result()
        killer = killed_after(list(executor._processes), 0.3)
        found = swept(MASSES, executor=executor, measure=cases.slow_angle)
        killer.join()
    assert found["slow_angle"].values == pytest.approx(known(MASSES))
    assert set(found["status"].values) == {"completed"}


def test_a_member_that_kills_its_worker_fails_alone():
    with ProcessPoolExecutor(2) as executor, pytest.warns(UserWarning, match="1 of 31 members failed"):
        found = swept(MASSES, executor=executor, measure=cases.deadly)
    bad = np.isclose(MASSES, 2.0)
    assert (found["status"].values == np.where(bad, "failed", "completed")).all()
    assert "died" in found["reason"].values[bad].item()
    assert found["deadly"].values[~bad] == pytest.approx(known(MASSES[~bad]))


def require_one_failure(executor):
    with pytest.warns(UserWarning, match="1 of 31 members failed"):
        found = swept(MASSES, executor=executor, measure=cases.deadly)
    assert (found["status"].values == np.where(np.isclose(MASSES, 2.0), "failed", "completed")).all()


def test_a_batch_that_kills_its_worker_late_is_halved(monkeypatch):
    """Several looks pass between the start of a batch and the death of its worker."""
    monkeypatch.setattr(executors, "POLL_INTERVAL_S", 1e-4)
    with ProcessPoolExecutor(2) as executor:
        require_one_failure(executor)


@pytest.mark.slow
def test_a_member_that_kills_a_spawned_worker_fails_alone():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        require_one_failure(executor)


def test_a_store_keeps_what_workers_found(pool, tmp_path):
    for _ in range(2):
        found = swept(MASSES, executor=pool, store=tmp_path / "a.nc")
    assert found["angle"].values == pytest.approx(known(MASSES))


class Lazy(Executor):
    """One that fails as a whole."""

    def submit(self, function, /, *args, **kwargs):
        found = Future()
        found.set_exception(RuntimeError("no workers today"))
        return found


def test_an_executor_that_cannot_work_is_told():
    with pytest.raises(RuntimeError, match="no workers today"):
        swept([1.0], executor=Lazy())


@pytest.fixture(scope="module")
def client():
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


@pytest.mark.slow
def test_a_member_that_kills_a_worker_of_dask_fails_alone(client):
    require_one_failure(client)


def test_dask_gives_what_this_process_gives_though_a_worker_is_killed(client):
    alone = swept(MASSES, measure={"angle": lambda run: cases.angle(run)})
    assert swept(MASSES, executor=client, measure={"angle": lambda run: cases.angle(run)}).equals(alone)
    pids = list(client.run(os.getpid).values())
    assert len(set(pids)) == 2
    killer = killed_after(pids, 0.3)
    found = swept(MASSES, executor=client, measure=cases.slow_angle)
    killer.join()
    assert found["slow_angle"].values == pytest.approx(known(MASSES))
    assert set(found["status"].values) == {"completed"}
    assert pids[0] not in client.run(os.getpid).values()  # it really died
