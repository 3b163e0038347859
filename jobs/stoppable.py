"""Compiling that a signal can stop: it is let through between two steps of the compiler, and not within one.

Within one the compiler calls back from code that drops whatever is raised, and goes on, or breaks down later.
"""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

_HELD: Final = (signal.SIGTERM, signal.SIGINT)


@contextmanager
def held_signals() -> Iterator[Callable[[], None]]:
    """Hold SIGTERM and SIGINT back in the block; one that has come goes to its handler at the end.

    Yields:
        Lets one that has come through to its handler at once, which may raise, and holds none back from then
        on. In a thread to which no signals come it does nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    came: list[int] = []
    before = {each: signal.signal(each, lambda number, _: came.append(number)) for each in _HELD}

    def release() -> None:
        while before:
            number, handler = before.popitem()
            signal.signal(number, handler)

    def let_through() -> None:
        if came and before:
            release()
            signal.raise_signal(came[0])

    try:
        yield let_through
        let_through()
    finally:
        release()


def warm_up() -> None:
    """Compile the solver's kernels, or load them, so that a signal can stop it within some seconds."""
    from pipeline.deals.certify import warm_up as compile_kernels  # it defines kernels
    from solver import jit

    with held_signals() as let_through, jit.between_steps(let_through):
        compile_kernels()
