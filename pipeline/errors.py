"""The exceptions of the pipeline; the command line maps each to an exit code.

The codes are 1 for a failed check or damaged data, 73 for storage that fails, 75 for a root that another run
holds or a query that times out, and 78 for a wrong configuration.
"""

from solver.errors import FairwayError, UsageError


class CheckError(FairwayError):
    """A check failed, or what was requested does not exist."""


class DamagedError(FairwayError):
    """A file in the data root is damaged; the message names the file and what is wrong."""


class VersionError(DamagedError):
    """A file that another version of Fairway wrote: it may be sound, so it must not be replaced."""


class StorageError(FairwayError):
    """The data root cannot be read or written, for lack of space or permission, for example."""


class MissingError(StorageError):
    """A file to be read does not exist."""


class MisplacedError(StorageError):
    """Something that cannot be read as a file is in the place of one; it is left alone."""


class AlreadyThereError(StorageError):
    """A file to be created exists already."""


class BusyError(FairwayError):
    """Another run holds the data root; try again later."""


class OverdueError(FairwayError):
    """A query was not answered in time; allow more time or ask for less."""


class ConfigurationError(FairwayError):
    """A setting, the secret key or the location of the data root is not usable."""


class QueryError(UsageError):
    """DuckDB rejects the SQL or cannot finish it; the message is DuckDB's own."""
