"""The one door to numba: how a kernel is compiled, and where its machine code is kept.

Until `use_cache` names a folder, kernels are compiled in memory: the package itself never looks for a place
to write. The folder holds pickles, which run as code when loaded, so it must be private to the user.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])
_cached = False


def use_cache(folder: Path) -> None:
    """Keep compiled kernels in `folder`; call it before any module with kernels is imported.

    Args:
        folder: an existing folder that only this user can write to.
    """
    global _cached  # noqa: PLW0603 - numba itself keeps its cache folder in a module variable
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]  # made by numba at run time
    _cached = True


def kernel(function: _Kernel) -> _Kernel:
    """Compile a function on arrays and numbers; it runs without the interpreter's lock."""
    return cast(_Kernel, numba.njit(nogil=True, cache=_cached, error_model="numpy")(function))
