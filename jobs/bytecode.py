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
    names = {file: _module(file, package) for file in sorted(package.rglob("*.py"))}
    old = {file: name for file, name in names.items() if not _is_current(file, name)}
    for file in old:
        py_compile.compile(str(file), doraise=True)
    return tuple(old.values())


def _is_current(file: Path, name: str) -> bool:
    loaded = SourceFileLoader(name, str(file)).get_code(name)
    return loaded == compile(file.read_bytes(), str(file), "exec", dont_inherit=True)


def _module(file: Path, package: Path) -> str:
    return ".".join(file.relative_to(package.parent).with_suffix("").parts)
