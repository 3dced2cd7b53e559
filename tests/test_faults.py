"""Is the last good state found after a crash, on a full disk, in a folder of somebody else, in a damaged file?"""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from river_pufe import PUFEClassifier, saving, state
from river_pufe.cli.commands import app
from river_pufe.fleet import Fleet, SQLiteStore

COMMAND = [sys.executable, "-W", "ignore", "-m", "river_pufe", "run", "-", "--target", "y", "--task", "classification"]


def rows(n, seed=1):
    rng = random.Random(seed)
    for t in range(n):
        a, b = rng.gauss(0, 1), rng.gauss(5, 2)
        x = {"a": a, "b": b} if t < n // 2 else {"a": a, "c": 2 * b + a}
        yield {"site": "rst"[t % 3], **x, "y": a + b > 5}


def text(n):
    return "".join(json.dumps(row) + "\n" for row in rows(n))


def x_of(row):
    return {key: value for key, value in row.items() if key not in ("site", "y")}


def spawn(*arguments, **kwargs):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([*COMMAND, *map(str, arguments)], **pipes, **kwargs)


def after(n):
    """The bytes of a model that has learned the first n samples."""
    model = PUFEClassifier()
    for _, row in zip(range(n), rows(200)):
        model.learn_one(x_of(row), row["y"])
    return state.dumps(model)


def saved(path):
    return state.loads(path.read_bytes())["steps"][0]


# Killed.


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
def test_killed_while_saving(tmp_path, number):
    """The model is saved after each sample, so nearly any moment is one in which it is being saved."""
    path = tmp_path / "a.state"
    process = spawn("--ignore", "site", "--save", path, "--save-every", 1)
    feeding = multiprocessing.get_context("fork").Process(target=feed, args=(process.stdin,))
    feeding.start()
    process.stdin.close()
    while not path.exists():
        time.sleep(0.01)
    time.sleep(random.Random(int(number)).uniform(0.1, 0.4))
    process.send_signal(number)
    process.wait(timeout=120)
    feeding.join()
    model = saved(path)
    assert 0 < model.rounds < 200
    assert state.dumps(model) == after(model.rounds)
    told = process.stderr.read()
    assert "Traceback" not in told
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number
        assert f"Interrupted after line {model.rounds}." in told
        assert os.listdir(tmp_path) == ["a.state"]
    process.stdout.close()
    process.stderr.close()


def feed(pipe):
    try:
        for line in text(200).splitlines(keepends=True):
            pipe.write(line)
            pipe.flush()
            time.sleep(0.01)
    except OSError:
        pass


def test_what_was_killed_leaves_nothing_for_ever(tmp_path):
    left, foreign, path = tmp_path / ".a.state.k1ll3d", tmp_path / ".b.state.k1ll3d", tmp_path / "a.state"
    for file in (left, foreign):
        file.write_bytes(b"half of it")
    saving.write(path, b"1")
    assert left.exists()  # it may be written at the moment
    os.utime(left, (0, 0))
    os.utime(foreign, (0, 0))
    saving.write(path, b"2")
    assert sorted(os.listdir(tmp_path)) == [".b.state.k1ll3d", "a.state"]


# A full disk.


def limited(size):
    """Let a process write files of so many bytes, and no larger ones."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def test_a_full_disk_leaves_the_model_as_it_was(tmp_path):
    path = tmp_path / "a.state"
    spawn("--ignore", "site", "--save", path).communicate(text(40), timeout=120)
    before = path.read_bytes()
    process = spawn("--load", path, "--save", path, preexec_fn=limited(len(before) // 2))
    _, told = process.communicate(text(200), timeout=120)
    assert process.returncode == 1
    assert f"{path} cannot be written: File too large" in told
    assert "Traceback" not in told
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.state"]


def test_a_full_disk_leaves_the_models_of_all_keys_as_they_were(tmp_path):
    path = tmp_path / "a.db"
    keyed = ("--key", "site", "--save", path)
    spawn(*keyed).communicate(text(40), timeout=120)
    with Fleet(PUFEClassifier, "site", store=SQLiteStore(path)) as fleet:
        before = {key: state.dumps(fleet.model(key)) for key in fleet.keys}
    process = spawn("--load", path, "--save", path, preexec_fn=limited(path.stat().st_size + 5_000))
    _, told = process.communicate(text(200), timeout=120)
    assert process.returncode == 1
    assert f"{path} cannot be used as a store" in told
    assert "Traceback" not in told
    with Fleet(PUFEClassifier, "site", store=SQLiteStore(path)) as fleet:
        assert {key: state.dumps(fleet.model(key)) for key in fleet.keys} == before


def learn(fleet, events):
    for x, y in events:
        fleet.learn_one(x, y)


@pytest.mark.parametrize("live", [1, 100])
def test_a_fleet_on_a_full_disk_is_what_was_committed(tmp_path, live):
    """And goes on from there, once there is room again."""
    events = [({**x_of(row), "site": t % (3 if t < 30 else 12), "t": t}, row["y"]) for t, row in enumerate(rows(60))]
    right = Fleet(PUFEClassifier, "site", "t")
    learn(right, events)
    store = SQLiteStore(tmp_path / "a.db")
    fleet = Fleet(PUFEClassifier, "site", "t", store, live=live, commit_every=30)
    learn(fleet, events[:30])
    committed = {key: fleet.model(key).rounds for key in fleet.keys}
    connection = fleet._store._open
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(OSError, match=r"a\.db cannot be used as a store: database or disk is full"):
        learn(fleet, events[30:])
    assert {key: fleet.model(key).rounds for key in fleet.keys} == committed
    learn(fleet, events)
    assert {key: state.dumps(fleet.model(key)) for key in fleet.keys} == {
        key: state.dumps(right.model(key)) for key in right.keys
    }
    fleet.close()


# A folder in which nothing can be written.


def call(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


def as_another_user(*arguments):
    """The same as a user who may do nothing, if we may become one."""

    def work(pipe):
        if os.getuid() == 0:
            os.setgid(65534)
            os.setuid(65534)
        try:
            pipe.send(call(*arguments))
        except BaseException as error:
            pipe.send(repr(error))

    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe()
    process = context.Process(target=work, args=(theirs,))
    process.start()
    process.join(120)
    assert mine.poll()
    return mine.recv()


def test_a_folder_that_must_not_be_written(tmp_path):
    folder = tmp_path / "closed"
    folder.mkdir()
    file, model, fleet = (folder / name for name in ("a.jsonl", "a.state", "a.db"))
    file.write_text(text(60))
    learn = ("run", file, "--target", "y", "--task", "classification")
    # What is imported late must be there before another user needs it.
    assert call(*learn, "--ignore", "site", "--save", model)[0] == 0
    assert call(*learn, "--key", "site", "--save", fleet)[0] == 0
    assert call("run", file, "--load", fleet)[0] == 0
    before = {path: path.read_bytes() for path in folder.iterdir()}
    for path in (tmp_path, *tmp_path.parents):
        if path.owner() == pathlib.Path.home().owner() and path != pathlib.Path(path.anchor):
            path.chmod(path.stat().st_mode | 0o055)
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    try:
        assert as_another_user("run", file, "--load", model)[0] == 0
        for wish, where in (
            (("--load", model, "--save", model), model),
            (("--load", model, "--save", folder / "b.state"), folder / "b.state"),
            (("--load", model, "--predictions", folder / "b.jsonl"), folder / "b.jsonl"),
            (("--load", fleet, "--save", fleet), fleet),
            (("--load", fleet, "--save", folder / "b.db"), folder / "b.db"),
        ):
            code, told = as_another_user("run", file, *wish)
            assert code == 1, told
            assert str(where) in told
            assert "Traceback" not in told
        assert {path: path.read_bytes() for path in folder.iterdir()} == before
    finally:
        folder.chmod(0o755)


# A damaged file.


def test_a_torn_log_of_a_store_is_an_earlier_commit(tmp_path):
    """What a power failure may leave: the file of the store, and a part of the log of its latest commits."""
    fleet = Fleet(PUFEClassifier, "site", store=SQLiteStore(tmp_path / "a.db"), commit_every=20)
    known = {0: {}}
    for t, row in enumerate(rows(100), start=1):
        fleet.learn_one({**x_of(row), "site": row["site"]}, row["y"])
        if t % 20 == 0:
            known[t] = {key: state.dumps(fleet.model(key)) for key in fleet.keys}
    log = tmp_path / "a.db-wal"
    size, found = log.stat().st_size, []
    for share in (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.999, 1.0):
        folder = tmp_path / str(share)
        folder.mkdir()
        shutil.copy(tmp_path / "a.db", folder)
        (folder / "a.db-wal").write_bytes(log.read_bytes()[: int(share * size)])
        with Fleet(PUFEClassifier, "site", store=SQLiteStore(folder / "a.db")) as torn:
            models = {key: torn.model(key) for key in torn.keys}
            found.append(sum(model.rounds for model in models.values()))
            assert {key: state.dumps(model) for key, model in models.items()} == known[found[-1]]
    assert found == sorted(found)
    assert found[-1] == 100
    fleet.close()


@pytest.mark.parametrize("damage", [(b"CREATE TABLE", b"CREATE \x80ABLE"), (b"tablemodels", b"tablemod\x80ls")])
def test_a_damaged_store_is_named_and_left_alone(tmp_path, damage):
    """SQLite quotes in its message what is damaged, which need not be text."""
    path = tmp_path / "a.db"
    store = SQLiteStore(path)
    store.put("a", b"state")
    store.commit()
    store.close()
    sound = path.read_bytes()
    damaged = sound.replace(*damage)
    assert damaged != sound
    path.write_bytes(damaged)
    for _ in range(2):
        with pytest.raises(OSError, match=r"a\.db cannot be used as a store: (?!another)"):
            SQLiteStore(path).get("a")
    (tmp_path / "a.jsonl").write_text('{"site": "a", "x": 1, "y": true}\n')
    for more in ((), ("--save", tmp_path / "b.db")):
        asked = ["run", tmp_path / "a.jsonl", "--target", "y", "--key", "site", "--load", path, *more]
        result = CliRunner().invoke(app, [*map(str, asked)])
        assert result.exit_code == 1
        told = result.output.replace("\n", "")
        assert "a.db cannot be used as a store" in told or "b.db is not a model that can be loaded" in told
    path.write_bytes(sound)
    with contextlib.closing(SQLiteStore(path)) as store:
        assert store.get("a") == b"state"
