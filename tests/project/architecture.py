"""Checks of the architecture: which wing may import which, and which modules may use which libraries.

The checks read the source and run nothing. The floors come from ARCHITECTURE.md; `OWNED` lists the names that
only some modules may use. Each rule needs a planted violation in `test_architecture.py`.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

# Each package may import itself and the packages before it.
PACKAGES: Final = ("solver", "pipeline", "jobs")
DOWNWARDS: Final = "a wing imports only wings on the floors below it"
CIRCLE: Final = "modules never import each other in a circle"

_FLOORS: Final = re.compile(r"^(solver|pipeline|jobs): +(.+)$", re.MULTILINE)

_BUILT_IN: Final = ("print", "input", "open", "__import__")
_IMPORTERS: Final = ("__import__", "importlib.import_module")


@dataclass(frozen=True, slots=True)
class Owned:
    """Names that only some modules may use.

    Attributes:
        what: the rule, as reported for a violation.
        names: dotted names; each includes everything below it. `*.x` is the attribute x of any object.
        owners: patterns of the files that may use them, relative to the root of the repository.
    """

    what: str
    names: tuple[str, ...]
    owners: tuple[str, ...]


_NOW = ("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.datetime.today", "datetime.date.today")
_CLOCKS = ("time.time", "time.time_ns", "time.localtime", "time.gmtime", "time.ctime", "time.strftime")
_OS_WRITES = (
    *("os.open", "os.fdopen", "os.write", "os.pwrite", "os.truncate", "os.ftruncate", "os.fsync", "os.sync"),
    *("os.link", "os.symlink", "os.rename", "os.renames", "os.replace", "os.remove", "os.removedirs"),
    *("os.unlink", "os.mkdir", "os.makedirs", "os.rmdir", "os.chmod", "os.chown", "os.utime", "os.mkfifo"),
    "os.mknod",
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
        ("solver/jit.py", "solver/search/vector.py", "solver/*/*_kernel.py"),
    ),
    Owned("duckdb only in the query module", ("duckdb",), ("pipeline/query/engine.py",)),
    Owned(
        "pyarrow only in modules for schemas, Parquet and queries",
        ("pyarrow",),
        (
            *("pipeline/pools/parquet.py", "pipeline/studies/study_schema.py"),
            *("pipeline/query/engine.py", "pipeline/query/sources.py", "pipeline/query/rows.py"),
        ),
    ),
    Owned(
        "JSON Schema only in the module that checks documents",
        ("jsonschema",),
        ("pipeline/store/documents.py",),
    ),
    Owned(
        "pydantic only in the settings and in the module that checks documents",
        ("pydantic", "pydantic_core"),
        ("jobs/settings/*.py", "pipeline/store/documents.py"),
    ),
    Owned(
        "TOML only in the module that reads the settings file", ("tomllib",), ("jobs/settings/sources.py",)
    ),
    Owned(
        "Prometheus only in the module that writes metrics",
        ("prometheus_client",),
        ("jobs/watch/metrics.py",),
    ),
    Owned(
        "matplotlib only in the module that draws charts", ("matplotlib",), ("pipeline/studies/charts.py",)
    ),
    Owned("APScheduler only in the scheduler", ("apscheduler",), ("jobs/service/scheduler.py",)),
    Owned(
        # Exception: the query subprocess, whose three streams are pipes.
        "typer, printing and the terminal only in the command line",
        (
            *("typer", "click", "rich", "print", "input"),
            *("sys.stdin", "sys.stdout", "sys.stderr", "sys.argv", "sys.exit"),
        ),
        ("jobs/cli/*", "jobs/terminal/*", "pipeline/query/worker.py"),
    ),
    Owned(
        "the environment only in settings",
        ("os.environ", "os.environb", "os.getenv", "os.getenvb", "os.putenv", "os.unsetenv"),
        ("jobs/settings/load.py", "solver/kernel_cache.py"),
    ),
    Owned(
        "the current time only in the command line, which passes it down",
        (*_NOW, *_CLOCKS),
        ("jobs/cli/*", "jobs/terminal/*"),
    ),
    Owned(
        "durations are measured, and sleeping is done, only in jobs",
        ("time.sleep", "time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns"),
        ("jobs/*",),
    ),
    Owned(
        # Exception: storage makes up names of temporary files, which are renamed when they are complete.
        "randomness only in tests",
        ("random", "numpy.random", "secrets", "uuid", "os.urandom", "os.getrandom"),
        ("pipeline/store/storage.py",),
    ),
    Owned(
        # Exceptions: the lock file, the key file (opened, but only read), the folder of compiled kernels, the
        # output of hooks (a file without a name), and files named with -o.
        "files are written through the storage module",
        ("open", "io.open", "shutil", "tempfile", *_OS_WRITES, *_PATH_WRITES),
        (
            *("pipeline/store/storage.py", "jobs/runs/lock.py", "jobs/settings/key_file.py"),
            *("solver/kernel_cache.py", "jobs/watch/hooks.py", "jobs/cli/*", "jobs/terminal/*"),
        ),
    ),
    Owned(
        # Exceptions: the schemas in the package, a folder before it becomes a data root, the lock, the key
        # file, the settings file, the sources hashed for the folder of compiled kernels, the output of hooks,
        # and files named with --file.
        "files are read through the storage module",
        (*_OS_READS, *_PATH_READS),
        (
            *("pipeline/store/storage.py", "pipeline/store/documents.py", "pipeline/store/root.py"),
            *("jobs/runs/lock.py", "jobs/settings/key_file.py", "jobs/settings/sources.py"),
            *("solver/kernel_cache.py", "jobs/watch/hooks.py", "jobs/cli/*", "jobs/terminal/*"),
        ),
    ),
    Owned(
        "processes are started only for queries and hooks",
        (
            *("subprocess", "multiprocessing", "pty", "os.fork", "os.forkpty", "os.posix_spawn"),
            *("os.system", "os.popen"),
        ),
        ("pipeline/query/client.py", "jobs/watch/hooks.py"),
    ),
    Owned("nothing uses the network", ("socket", "ssl", "http", "urllib", "ftplib", "smtplib"), ()),
)


@dataclass(frozen=True, slots=True)
class Use:
    """A name that a module imports or uses, in full, with its line."""

    name: str
    line: int
    imported: bool


def floors_in(text: str) -> dict[str, int]:
    """Return the floor of every wing, and of every module directly in a package.

    Args:
        text: text of ARCHITECTURE.md. It has a line per package, which lists its floors from the ground up,
            separated by ` < `.
    """
    return {
        f"{package}.{wing}": number
        for package, floors in _FLOORS.findall(text)
        for number, wings in enumerate(floors.split(" < "))
        for wing in re.findall(r"\w+", wings)
    }


def violations(root: Path, floors: Mapping[str, int]) -> list[str]:
    """Return every violation in the packages below a root, as `file:line: name: rule`."""
    found = []
    graph: dict[str, set[str]] = {}
    files = {
        path.relative_to(root).as_posix(): path for name in PACKAGES for path in (root / name).rglob("*.py")
    }
    modules = {_module(place) for place in files}
    for place, file in sorted(files.items()):
        touched = uses(ast.parse(file.read_text("utf-8")), place)
        for use in sorted(touched, key=lambda use: (use.line, use.name)):
            found += [f"{place}:{use.line}: {use.name}: {rule}" for rule in broken(use, place, floors)]
        imported = [use.name for use in touched if use.imported]
        named = {name if name in modules else name.rpartition(".")[0] for name in imported}
        graph[_module(place)] = (named & modules) - {_module(place)}
    return found + [f"{' -> '.join(circle)}: {CIRCLE}" for circle in circles(graph)]


def _module(place: str) -> str:
    return place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def circles(graph: Mapping[str, set[str]]) -> Iterator[list[str]]:
    """Yield circles of modules that import each other: for each module the shortest one, each circle once."""
    seen: set[str] = set()
    for start in sorted(graph):
        paths = [[start]]
        visited = {start}
        while paths and start not in seen:
            path = paths.pop(0)
            if start in graph[path[-1]]:
                seen.update(path)
                yield [*path, start]
                break
            following = sorted(graph[path[-1]] - visited)
            visited.update(following)
            paths += [[*path, module] for module in following]


def broken(use: Use, place: str, floors: Mapping[str, int]) -> Iterator[str]:
    """Yield the rules that this use breaks in this file."""
    package, other = place.split("/")[0], use.name.split(".")[0]
    if use.imported and other == "tests":
        yield "no program imports its tests"
    if use.imported and other in PACKAGES and PACKAGES.index(other) > PACKAGES.index(package):
        yield f"{package} never imports {other}"
    if use.imported and other == package:
        yield from _not_downwards(
            ".".join(_module(place).split(".")[:2]), ".".join(use.name.split(".")[:2]), floors
        )
    for rule in OWNED:
        owner = any(fnmatchcase(place, pattern) for pattern in rule.owners)
        if not owner and any(_includes(name, use.name) for name in rule.names):
            yield rule.what


def _not_downwards(wing: str, other: str, floors: Mapping[str, int]) -> Iterator[str]:
    """Yield the rule that an import from another wing breaks; the lowest modules may import each other."""
    is_known = wing != other and wing in floors and other in floors
    if is_known and floors[other] >= floors[wing] and (floors[wing], floors[other]) != (0, 0):
        yield DOWNWARDS


def _includes(name: str, used: str) -> bool:
    if name.startswith("*."):
        return "." in used and used.endswith(name[1:])
    return used == name or used.startswith(f"{name}.")


def uses(tree: ast.Module, place: str) -> set[Use]:
    """Return everything that a module imports, at any depth, and all names and attributes that it uses."""
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
    """Yield each name that an import binds, with its full name."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            # `import a.b` binds a, but imports a.b.
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
    """Return a dotted name with its alias resolved; `?` if it is neither imported nor built in."""
    if isinstance(node, ast.Name):
        return aliases.get(node.id, node.id if node.id in _BUILT_IN else "?")
    if isinstance(node, ast.Attribute):
        return f"{_full_name(node.value, aliases)}.{node.attr}"
    return "?"


def _literal(call: ast.Call) -> str:
    """Return the module that a call of `import_module` imports; `?` if it is not a literal."""
    first = call.args[0] if call.args else None
    return first.value if isinstance(first, ast.Constant) and isinstance(first.value, str) else "?"
