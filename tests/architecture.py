"""The check of the architecture: who may import whom, and which modules alone may do what.

It reads the source and runs nothing. `OWNED` is the whole list of rules; a new one is a new row, with a
planted violation in `test_architecture.py`.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

# Each may import itself and those before it, never one after.
PACKAGES: Final = ("solver", "pipeline", "jobs")

_BUILT_IN: Final = ("print", "input", "open", "__import__")
_IMPORTERS: Final = ("__import__", "importlib.import_module")


@dataclass(frozen=True, slots=True)
class Owned:
    """Things that only a few modules may touch.

    Attributes:
        what: the rule, as it is told to whoever breaks it.
        names: dotted names; each stands for everything below it too. `*.x` is an attribute x of anything.
        owners: patterns of the files that may use them, relative to the root.
    """

    what: str
    names: tuple[str, ...]
    owners: tuple[str, ...]


_NOW = ("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today")
_CLOCKS = ("time.time", "time.time_ns", "time.localtime", "time.gmtime", "time.ctime", "time.strftime")
_OS_WRITES = (
    *("os.open", "os.fdopen", "os.write", "os.pwrite", "os.truncate", "os.ftruncate", "os.fsync", "os.sync"),
    *(
        "os.link",
        "os.symlink",
        "os.rename",
        "os.renames",
        "os.replace",
        "os.remove",
        "os.removedirs",
        "os.unlink",
    ),
    *("os.mkdir", "os.makedirs", "os.rmdir", "os.chmod", "os.chown", "os.utime", "os.mkfifo", "os.mknod"),
)
_PATH_WRITES = (
    *("*.open", "*.write_text", "*.write_bytes", "*.touch", "*.mkdir", "*.unlink", "*.rmdir", "*.rename"),
    *("*.symlink_to", "*.hardlink_to", "*.chmod"),
)
_OS_READS = ("os.listdir", "os.scandir", "os.walk", "os.fwalk", "os.read", "os.pread", "os.stat", "os.lstat")
_PATH_READS = ("*.read_text", "*.read_bytes", "*.iterdir", "*.glob", "*.rglob", "glob")

OWNED: Final = (
    Owned(
        "numba only in the solver's kernels",
        ("numba", "llvmlite", "solver.jit.kernel", "solver.jit.inlined"),
        ("solver/jit.py", "solver/vector.py", "solver/*_kernel.py"),
    ),
    Owned("duckdb only in the query module", ("duckdb",), ("pipeline/query.py",)),
    Owned(
        "pyarrow only where schemas, Parquet and queries are",
        ("pyarrow",),
        (
            *("pipeline/schema.py", "pipeline/study_schema.py"),
            *("pipeline/query.py", "pipeline/sources.py", "pipeline/answer.py"),
        ),
    ),
    Owned("JSON Schema only where documents are checked", ("jsonschema",), ("pipeline/documents.py",)),
    Owned(
        "pydantic only where settings are, and where documents are read strictly",
        ("pydantic", "pydantic_core", "pydantic_settings"),
        ("jobs/setting*.py", "jobs/configuration.py", "pipeline/strict_json.py"),
    ),
    Owned("TOML only in the file of settings", ("tomllib",), ("jobs/config_file.py",)),
    Owned("Prometheus only where metrics are written", ("prometheus_client",), ("jobs/metrics.py",)),
    Owned("matplotlib only where calibrations are drawn", ("matplotlib",), ("pipeline/calibration_plot.py",)),
    Owned("APScheduler only in the scheduler", ("apscheduler",), ("jobs/scheduler.py",)),
    Owned(
        # Besides: the process that answers a question, whose three streams are pipes.
        "typer, printing and the terminal only in the command line",
        (
            "typer",
            "click",
            "rich",
            "print",
            "input",
            "sys.stdin",
            "sys.stdout",
            "sys.stderr",
            "sys.argv",
            "sys.exit",
        ),
        ("jobs/cli/*", "jobs/answering.py"),
    ),
    Owned(
        "the environment only in settings",
        ("os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv", "os.unsetenv"),
        ("jobs/settings.py",),
    ),
    Owned(
        "now only in the command line, which passes it down",
        (*_NOW, *_CLOCKS),
        ("jobs/cli/*",),
    ),
    Owned(
        "durations are measured, and slept through, by jobs only",
        ("time.sleep", "time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns"),
        ("jobs/*",),
    ),
    Owned(
        # Storage takes from it the names of files that are not finished yet; they are never seen again.
        "nothing is left to chance outside the tests",
        ("random", "numpy.random", "secrets", "uuid", "os.urandom", "os.getrandom"),
        ("pipeline/storage.py",),
    ),
    Owned(
        # Besides: the lock file, the files of the secret key and of settings (which are only read), the
        # folder of compiled kernels, which has to be private, and files that a user names with -o.
        "files are written through the storage module",
        ("open", "io.open", "shutil", "tempfile", *_OS_WRITES, *_PATH_WRITES),
        (
            *("pipeline/storage.py", "jobs/lock.py", "jobs/key_file.py"),
            *("jobs/config_file.py", "jobs/kernel_cache.py", "jobs/private_folder.py", "jobs/cli/*"),
        ),
    ),
    Owned(
        # Besides: the shipped schemas, a look at what a folder holds before it is taken for a data root, the
        # lock, the files of the secret key and of settings, the sources that name a kernel cache and what
        # Python makes of them, the folders that hold it, and files that a user names with --file.
        "files are read through the storage module",
        (*_OS_READS, *_PATH_READS),
        (
            *("pipeline/storage.py", "pipeline/documents.py", "pipeline/root.py"),
            *("jobs/lock.py", "jobs/key_file.py", "jobs/config_file.py", "jobs/kernel_cache.py"),
            *("jobs/private_folder.py", "jobs/bytecode.py", "jobs/cli/*"),
        ),
    ),
    Owned(
        "other processes are started to answer questions and for the operator's hooks only",
        (
            "subprocess",
            "multiprocessing",
            "pty",
            "os.fork",
            "os.forkpty",
            "os.posix_spawn",
            "os.system",
            "os.popen",
        ),
        ("jobs/asking.py", "jobs/hooks.py"),
    ),
    Owned("nothing talks to a network", ("socket", "ssl", "http", "urllib", "ftplib", "smtplib"), ()),
)


@dataclass(frozen=True, slots=True)
class Use:
    """A name that a module imports or touches, in full, with its line."""

    name: str
    line: int
    imported: bool


def violations(root: Path) -> list[str]:
    """Every breach in the packages below a root, as `file:line: name: rule`."""
    found = []
    for file in sorted(path for package in PACKAGES for path in (root / package).rglob("*.py")):
        place = file.relative_to(root).as_posix()
        for use in sorted(
            uses(ast.parse(file.read_text("utf-8")), place), key=lambda use: (use.line, use.name)
        ):
            found += [f"{place}:{use.line}: {use.name}: {rule}" for rule in broken(use, place)]
    return found


def broken(use: Use, place: str) -> Iterator[str]:
    """The rules that a use in this file breaks."""
    package, other = place.split("/")[0], use.name.split(".")[0]
    if use.imported and other == "tests":
        yield "no program imports its tests"
    if use.imported and other in PACKAGES and PACKAGES.index(other) > PACKAGES.index(package):
        yield f"{package} never imports {other}"
    for rule in OWNED:
        owner = any(fnmatchcase(place, pattern) for pattern in rule.owners)
        if not owner and any(_stands_for(name, use.name) for name in rule.names):
            yield rule.what


def _stands_for(name: str, used: str) -> bool:
    if name.startswith("*."):
        return "." in used and used.endswith(name[1:])
    return used == name or used.startswith(f"{name}.")


def uses(tree: ast.Module, place: str) -> set[Use]:
    """All that a module imports, at whatever depth, and all names and attributes that it touches, in full."""
    aliases: dict[str, str] = {}
    found = set()
    for node in ast.walk(tree):
        for name, full in _imports(node, place):
            aliases[name] = full
            found.add(Use(full, node.lineno, imported=True))  # type: ignore[attr-defined]  # imports have lines
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute):
            found.add(Use(_full_name(node, aliases), node.lineno, imported=False))
        if isinstance(node, ast.Call) and _full_name(node.func, aliases) in _IMPORTERS:
            found.add(Use(_literal(node), node.lineno, imported=True))
    return found


def _imports(node: ast.AST, place: str) -> Iterator[tuple[str, str]]:
    """Each name that an import binds, and what it stands for in full."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            # `import a.b` binds a, but it is a.b that is imported.
            yield alias.asname or alias.name, alias.name
            if not alias.asname and "." in alias.name:
                yield alias.name.split(".")[0], alias.name.split(".")[0]
    if isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            package = place.split("/")[: -node.level]
            base = ".".join((*package, base)).strip(".")
        for alias in node.names:
            yield alias.asname or alias.name, f"{base}.{alias.name}".strip(".")


def _full_name(node: ast.expr, aliases: dict[str, str]) -> str:
    """A dotted name with its alias resolved; what is neither imported nor built in is a `?`."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id, node.id if node.id in _BUILT_IN else "?")
    if isinstance(node, ast.Attribute):
        return f"{_full_name(node.value, aliases)}.{node.attr}"
    return "?"


def _literal(call: ast.Call) -> str:
    """The module that an import by name asks for; one that is not written out could be any."""
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else "?"
