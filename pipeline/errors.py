"""The exceptions of the pipeline; each is one kind of outcome for whoever runs it.

The command line gives each its exit code: a failed check or damaged data 1, no place to write 73, another run
at work or a query out of time 75, a wrong configuration 78.
"""

from solver.errors import FairwayError, UsageError


class CheckError(FairwayError):
    """A result that does not hold, or a thing asked for that is not there."""


class DamagedError(FairwayError):
    """A file in the data root that is not what it must be; the message names the file and what is wrong."""


class VersionError(DamagedError):
    """A file that another version of Fairway wrote: it may be sound, so it must not be replaced."""


class StorageError(FairwayError):
    """The data root cannot be read or written: no space, no permission, no such device."""


class MissingError(StorageError):
    """A file that should be read does not exist."""


class AlreadyThereError(StorageError):
    """A file that may be created only once exists already."""


class BusyError(FairwayError):
    """Another run holds the data root; trying again later will do."""


class OverdueError(FairwayError):
    """A question that was not answered in time; more time or a smaller question will do."""


class ConfigurationError(FairwayError):
    """A setting, the secret key or the data root's place is not usable."""


class QueryError(UsageError):
    """SQL that DuckDB refuses or cannot finish; the message is DuckDB's own, on as many lines as it takes."""
