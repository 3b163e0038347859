"""Python's own compiled files, where they are older than they look.

Python takes a source for unchanged whose size and time of change are the same. It would go on with the old
code; and kernels made from that would be kept as those of the new code, for all runs to come.
"""

import py_compile
from importlib.machinery import SourceFileLoader
from pathlib import Path


def renew(package: Path) -> tuple[str, ...]:
    """Remake the compiled file of every module of a package whose code is not that of its source.

    Args:
        package: the folder with its modules.

    Returns:
        The names of those modules.

    Raises:
        OSError: one cannot be written.
    """
    old = [file for file in sorted(package.glob("*.py")) if not _is_current(file)]
    for file in old:
        py_compile.compile(str(file), doraise=True)
    return tuple(_module(file) for file in old)


def _is_current(file: Path) -> bool:
    loaded = SourceFileLoader(_module(file), str(file)).get_code(_module(file))
    return loaded == compile(file.read_bytes(), str(file), "exec", dont_inherit=True)


def _module(file: Path) -> str:
    return f"{file.parent.name}.{file.stem}"
