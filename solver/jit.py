"""How kernels are compiled and kept: the decorators `kernel` and `inlined`.

The first call of a kernel loads its machine code from `solver.kernel_cache` or compiles and keeps it; nothing
has to be called before. The first compilation of a process is logged as a warning, because it takes seconds.
"""

import logging
import pickle
import platform
import signal
import sys
import threading
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import Any, Final, TypeVar, cast

import llvmlite
import numba
from numba.core import caching, event, serialize
from numba.core import compiler as numba_compiler
from numba.core.registry import cpu_target

from solver.kernel_cache import KernelCache, source_key

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])
_log: Final = logging.getLogger(__name__)

# Parts of numba without types.
_rebuilt: Final[Callable[..., Any]] = numba_compiler.CompileResult._rebuild
_dumps: Final[Callable[..., bytes]] = serialize.dumps
_register: Final[Callable[..., None]] = event.register

# Other settings of numba that change the machine code.
_CODE_SETTINGS: Final = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT")


def kernel(function: _Kernel) -> _Kernel:
    """Compile a function on arrays and numbers; it runs without the interpreter's lock."""
    return _compiled(function)


def inlined(function: _Kernel) -> _Kernel:
    """Inline a piece of a kernel into the one or two functions that call it, before anything is compiled.

    A function that is compiled by itself is optimised once by itself and again in each kernel that calls it.
    Inlining takes a quarter off the time to compile and does not change the speed.
    """
    return _compiled(function, inline="always")


def is_interpreted() -> bool:
    """Whether kernels run as plain Python (`NUMBA_DISABLE_JIT=1`)."""
    return bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]  # made by numba at run time


def compiler() -> tuple[str, ...]:
    """Return what machine code depends on besides the sources: compiler, Python, and processor.

    The processor is its name and the features in use as numba sees them, because the code is made for those;
    the operating system's name of a processor may be empty or the same for two kinds.
    """
    settings = (f"{name}={getattr(numba.config, name)!r}" for name in _CODE_SETTINGS)
    python = (sys.implementation.name, platform.python_version())
    target = cpu_target.target_context.codegen().magic_tuple()
    return ("numba", numba.__version__, "llvmlite", llvmlite.__version__, *python, *target, *settings)


def _compiled(function: _Kernel, **options: Any) -> _Kernel:
    dispatcher: Any = numba.njit(nogil=True, error_model="numpy", **options)(function)
    if not is_interpreted():
        dispatcher._cache = _KeptKernel(function)
    return cast(_Kernel, dispatcher)


@cache
def _kernel_cache() -> KernelCache:
    return KernelCache(source_key(compiler()))


class _KeptKernel(caching.NullCache):
    """The kept machine code of one kernel: a file per signature.

    numba's own cache looks at one source file at a time, so it would keep a caller whose callee in another
    file has changed; and it fails if a file is damaged.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._name = f"{function.__module__}.{function.__qualname__}"

    def _file(self, signature: object) -> str:
        return f"{self._name}-{sha256(repr(signature).encode()).hexdigest()[:16]}"

    def load_overload(self, signature: object, target_context: Any) -> Any:
        target_context.refresh()
        data = _kernel_cache().read(self._file(signature))
        if data is None:
            return None
        return _rebuilt(target_context, *pickle.loads(data))  # noqa: S301 - the folder is private

    def save_overload(self, signature: object, result: Any) -> None:
        try:
            _kernel_cache().write(self._file(signature), _dumps(result._reduce()))
        except OSError as error:
            _log.warning("cannot keep compiled kernels in %s: %s", _kernel_cache().folder, error.strerror)
            _kernel_cache().folder = None


class _Compilation(event.Listener):
    """Logs the first compilation, and delivers signals only between two steps of the compiler.

    Within a step the compiler calls back from code that drops exceptions raised by a signal handler. A step
    takes up to two seconds.
    """

    def __init__(self) -> None:
        self._logged = False
        self._depth = 0  # kernels being compiled in the main thread, each called by the one before
        self._handlers: dict[int, Any] = {}
        self._received: list[int] = []

    def on_start(self, what: Any) -> None:
        if _is_kernel(what) and not self._logged:
            self._logged = True
            _log.warning(_first_use())
        if threading.current_thread() is threading.main_thread():
            if _is_kernel(what) and not self._depth:
                self._hold_signals()
            self._depth += _is_kernel(what)
            self._deliver()

    def on_end(self, what: Any) -> None:
        if threading.current_thread() is threading.main_thread():
            self._depth -= _is_kernel(what)
            if not self._depth:
                self._release_signals()
            self._deliver()

    def _hold_signals(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            handler = signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                signal.signal(number, lambda number, _: self._received.append(number))

    def _release_signals(self) -> None:
        while self._handlers:
            signal.signal(*self._handlers.popitem())

    def _deliver(self) -> None:
        if self._received:
            self._release_signals()
            signal.raise_signal(self._received.pop())


def _is_kernel(what: Any) -> bool:
    """Whether an event is the compilation of a kernel, not a step of one or of somebody else's function."""
    if what.kind != "numba:compile":
        return False
    return isinstance(getattr(what.data["dispatcher"], "_cache", None), _KeptKernel)


def _first_use() -> str:
    found = _kernel_cache()
    why = "; ".join(found.reasons)
    if found.folder is None:
        return f"compiling the solver, a few seconds at every start because it cannot be kept ({why})"
    elsewhere = f"; kept in {found.folder.parent} ({why})" if why else ""
    return f"compiling the solver, a few seconds on first use{elsewhere}"


_compilation: Final = _Compilation()
for _kind in ("numba:compile", "numba:run_pass"):
    _register(_kind, _compilation)
