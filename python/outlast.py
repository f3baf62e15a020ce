"""Talk to the ``outlast`` supervisor from a training program: one file, standard library only, Python 3.8 and later.

Every function is safe without a supervisor: nothing raises, nothing blocks, and the program behaves as if it had not been called. ::

    import outlast

    start = outlast.resume_step() or 0
    for step in range(start + 1, total + 1):
        train_one_step()
        outlast.step(step)
        if step % every == 0 or outlast.should_save() or outlast.stopping():
            save(path)
            outlast.saved(path, step)
        if outlast.stopping():
            raise SystemExit(143)
    outlast.finished()

Calls may come from any thread. A process forked from the one that first used this module (a data-loader worker, say) sends nothing.
"""

import collections
import json
import os
import select
import socket
import threading
import time
from typing import Any, Deque, Dict, Optional, Union

__all__ = [
    "attempt",
    "checkpoint_dir",
    "deadline",
    "finished",
    "resume_path",
    "resume_step",
    "run",
    "save_interval",
    "save_interval_steps",
    "saved",
    "should_save",
    "step",
    "stopping",
]

_LONGEST_LINE = 64 * 1024
_LONGEST_BACKLOG = 1024
_STEP_EVERY_SECONDS = 0.1
_CONNECT_SECONDS = 0.5


class _Connection:
    """One connection to the supervisor; a dead or missing one swallows everything."""

    def __init__(self, path: Optional[str]) -> None:
        self.pid = os.getpid()
        self.lock = threading.RLock()
        self.notice_at = None  # type: Optional[float]
        self.save_asked = False
        self.interval = _read_number(os.environ.get("OUTLAST_SAVE_INTERVAL_SECONDS"))
        self.interval_steps = _read_number(os.environ.get("OUTLAST_SAVE_INTERVAL_STEPS"))
        self._incoming = b""
        # Whole lines, of which the first may be half sent. Appending is atomic, so a signal handler that runs in the middle of a send may
        # add to it; only the send that is under way takes from it.
        self._outgoing = collections.deque()  # type: Deque[bytes]
        self._sending = False
        self._reading = False
        self._step = None  # type: Optional[int]
        self._step_sent_at = 0.0
        self._socket = None  # type: Optional[socket.socket]
        if path and hasattr(socket, "AF_UNIX"):
            self._connect(path)

    def _connect(self, path: str) -> None:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(_CONNECT_SECONDS)
            connection.connect(path)
            connection.setblocking(False)
        except (OSError, ValueError):
            connection.close()
            return
        self._socket = connection

    def abandon(self) -> None:
        """Closes this process's copy after a fork; the parent's connection lives on."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def send(self, message: Dict[str, Any]) -> None:
        if self._socket is None:
            return
        line = (json.dumps(message) + "\n").encode("utf-8")
        if len(self._outgoing) >= _LONGEST_BACKLOG:
            # The supervisor does not read: better say nothing than grow.
            return
        self._outgoing.append(line)
        self._flush()

    def send_step(self, n: int, now: bool = False) -> None:
        """Tells of a step at most ten times a second; the last one is told before anything else is."""
        self._step = n
        moment = time.monotonic()
        if now or moment - self._step_sent_at >= _STEP_EVERY_SECONDS:
            self._step_sent_at = moment
            self._step = None
            self.send({"type": "step", "step": n})

    def send_pending_step(self) -> None:
        if self._step is not None:
            self.send_step(self._step, now=True)

    def _flush(self) -> None:
        if self._sending:
            return
        self._sending = True
        try:
            while self._outgoing and self._socket is not None:
                line = self._outgoing[0]
                try:
                    sent = self._socket.send(line)
                except (BlockingIOError, InterruptedError):
                    return
                except OSError:
                    self.abandon()
                    return
                if sent == len(line):
                    self._outgoing.popleft()
                else:
                    self._outgoing[0] = line[sent:]
        finally:
            self._sending = False

    def poll(self) -> None:
        """Reads what has arrived, without waiting."""
        self._flush()
        if self._reading:
            return
        self._reading = True
        try:
            self._read()
        finally:
            self._reading = False

    def _read(self) -> None:
        while self._socket is not None:
            try:
                data = self._socket.recv(65536)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                self.abandon()
                return
            if not data:
                # What the supervisor said before it went still counts.
                self.abandon()
                return
            self._take(data)

    def drain(self, seconds: float) -> None:
        """Waits for what was said to leave, so that an exit right after does not swallow it."""
        until = time.monotonic() + seconds
        while self._outgoing and self._socket is not None:
            left = until - time.monotonic()
            if left <= 0:
                return
            try:
                select.select([], [self._socket], [], left)
            except (OSError, ValueError):
                return
            self._flush()

    def _take(self, data: bytes) -> None:
        self._incoming += data
        while b"\n" in self._incoming:
            line, self._incoming = self._incoming.split(b"\n", 1)
            try:
                message = json.loads(line.decode("utf-8"))
            except ValueError:
                continue
            if isinstance(message, dict):
                self._handle(message)
        if len(self._incoming) > _LONGEST_LINE:
            self._incoming = b""

    def _handle(self, message: Dict[str, Any]) -> None:
        kind = message.get("type")
        if kind == "notice":
            seconds = _read_number(message.get("deadline"))
            self.notice_at = time.monotonic() + (seconds if seconds is not None else 0.0)
        elif kind == "save":
            self.save_asked = True
        elif kind == "hello":
            interval = _read_number(message.get("save_interval_seconds"))
            steps = _read_number(message.get("save_interval_steps"))
            self.interval = interval if interval is not None else self.interval
            self.interval_steps = steps if steps is not None else self.interval_steps


_connection = None  # type: Optional[_Connection]
# Reentrant, like every lock here: a signal handler may call in while the same thread is inside.
_create_lock = threading.RLock()


def _get() -> Optional[_Connection]:
    """This process's connection; None in a process forked from the one that opened it."""
    global _connection
    connection = _connection
    if connection is None:
        with _create_lock:
            if _connection is None:
                _connection = _Connection(os.environ.get("OUTLAST_SOCKET"))
            connection = _connection
    return connection if connection.pid == os.getpid() else None


def _after_fork_in_child() -> None:
    global _create_lock
    # A lock held by another thread of the parent at the fork would stay locked here for ever.
    _create_lock = threading.RLock()
    if _connection is not None:
        _connection.lock = threading.RLock()
        _connection.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)


def _read_number(value: Any) -> Optional[float]:
    if value is None or isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _read_step(value: Any) -> Optional[int]:
    try:
        number = int(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if number >= 0 else None


def run() -> Optional[str]:
    """The run's name; None without a supervisor."""
    return os.environ.get("OUTLAST_RUN")


def attempt() -> Optional[int]:
    """1 for the first start of this run; None without a supervisor."""
    return _read_step(os.environ.get("OUTLAST_ATTEMPT"))


def checkpoint_dir() -> Optional[str]:
    """The directory that is watched for checkpoints; None without a supervisor."""
    return os.environ.get("OUTLAST_CHECKPOINT_DIR")


def resume_step() -> Optional[int]:
    """The step of the checkpoint to resume from; None when there is none."""
    return _read_step(os.environ.get("OUTLAST_RESUME_STEP"))


def resume_path() -> Optional[str]:
    """The file or folder to resume from; None when there is none."""
    return os.environ.get("OUTLAST_RESUME_PATH") or None


def step(n: int) -> None:
    """Says that step ``n`` is done. Cheap enough for every step."""
    number = _read_step(n)
    connection = _get()
    if connection is None or number is None:
        return
    with connection.lock:
        connection.send_step(number)
        connection.poll()


def saved(path: "Optional[Union[str, os.PathLike[str]]]" = None, step: Optional[int] = None) -> None:
    """Says that the checkpoint at ``path`` is complete, for ``step`` if given: it is looked at and shipped at once."""
    connection = _get()
    if connection is None:
        return
    message = {"type": "saved"}  # type: Dict[str, Any]
    if path is not None:
        try:
            message["path"] = os.path.abspath(os.fsdecode(path))
        except (TypeError, ValueError, OSError):
            pass  # Not a path: "something was saved" is still worth saying.
    number = _read_step(step)
    if number is not None:
        message["step"] = number
    with connection.lock:
        connection.save_asked = False
        connection.send_pending_step()
        connection.send(message)


def finished() -> None:
    """Says that the work is finished, so that even an eviction right now is followed by exit 0."""
    connection = _get()
    if connection is None:
        return
    with connection.lock:
        connection.send_pending_step()
        connection.send({"type": "finished"})
        connection.drain(0.5)


def stopping() -> bool:
    """Whether the supervisor has announced the end: save, then leave."""
    connection = _get()
    if connection is None:
        return False
    with connection.lock:
        connection.poll()
        return connection.notice_at is not None


def deadline() -> Optional[float]:
    """Seconds left until this program is killed, never negative; None while no end was announced."""
    connection = _get()
    if connection is None:
        return None
    with connection.lock:
        connection.poll()
        if connection.notice_at is None:
            return None
        return max(0.0, connection.notice_at - time.monotonic())


def should_save() -> bool:
    """Whether a save was asked for since the last :func:`saved`: the computed interval is over, or the end is known to be near."""
    connection = _get()
    if connection is None:
        return False
    with connection.lock:
        connection.poll()
        return connection.save_asked


def save_interval() -> Optional[float]:
    """Seconds between saves that lose least; None while that is not known."""
    connection = _get()
    if connection is None:
        return _read_number(os.environ.get("OUTLAST_SAVE_INTERVAL_SECONDS"))
    with connection.lock:
        connection.poll()
        return connection.interval


def save_interval_steps() -> Optional[int]:
    """The same as a number of steps; None while it is not known how long a step takes."""
    connection = _get()
    if connection is None:
        return _read_step(os.environ.get("OUTLAST_SAVE_INTERVAL_STEPS"))
    with connection.lock:
        connection.poll()
        steps = connection.interval_steps
    return None if steps is None else int(steps)
