"""The one door to numba: how a kernel is compiled, what its machine code depends on, and where that is kept.

Until `use_cache` names a folder, kernels are compiled in memory: the package itself never looks for a place
to write. The folder holds pickles, which run as code when loaded, so it must be private to the user.
"""

import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import llvmlite
import numba
from numba.core import event
from numba.core.registry import cpu_target

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])
_cached = False

# What else of numba's configuration changes the code it makes, without its own cache noticing.
_CODE_SETTINGS: Final = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")


def use_cache(folder: Path) -> None:
    """Keep compiled kernels in `folder`; call it before any module with kernels is imported.

    Args:
        folder: an existing folder that only this user can write to.
    """
    global _cached  # noqa: PLW0603 - numba itself keeps its cache folder in a module variable
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]  # made by numba at run time
    # A variable of numba's could name other places, which are not private and notice no changed callee.
    numba.config.CACHE_LOCATOR_CLASSES = "UserProvidedCacheLocator"  # type: ignore[attr-defined]  # likewise
    _cached = True


def is_interpreted() -> bool:
    """Whether kernels run as plain Python (`NUMBA_DISABLE_JIT=1`), with nothing to compile or keep."""
    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]  # made by numba at run time


def compiler() -> tuple[str, ...]:
    """What machine code depends on besides the sources: compiler, Python, and the processor as numba sees it.

    The processor is numba's own view, its name and the features that are used or left alone, because that is
    what the code is made for; the operating system's name of it may be empty or the same for two kinds.
    """
    settings = (f"{name}={getattr(numba.config, name)!r}" for name in _CODE_SETTINGS)
    python = (sys.implementation.name, platform.python_version())
    target = cpu_target.target_context.codegen().magic_tuple()
    return ("numba", numba.__version__, "llvmlite", llvmlite.__version__, *python, *target, *settings)


class _Between(event.Listener):
    """Hears of each step of the compiler."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function

    def on_start(self, _event: object) -> None:
        self._function()

    def on_end(self, _event: object) -> None:
        self._function()


@contextmanager
def between_steps(function: Callable[[], None]) -> Iterator[None]:
    """Call a function between the steps of what is compiled in the block; what it raises ends the compiling.

    Steps take up to two seconds.
    """
    with event.install_listener("numba:run_pass", _Between(function)):
        yield


def kernel(function: _Kernel) -> _Kernel:
    """Compile a function on arrays and numbers; it runs without the interpreter's lock."""
    return cast(_Kernel, numba.njit(nogil=True, cache=_cached, error_model="numpy")(function))


def inlined(function: _Kernel) -> _Kernel:
    """A piece of a kernel, written out in the one or two places that call it before anything is compiled.

    What is compiled by itself is optimised by itself and again within each kernel above it; what is written
    out, with the kernel only. That takes a quarter off the time to compile, and nothing off the speed.
    """
    inline = numba.njit(nogil=True, cache=_cached, error_model="numpy", inline="always")
    return cast(_Kernel, inline(function))
