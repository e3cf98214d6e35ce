"""The exceptions of the package. Every message is a sentence for the user."""


class InputError(ValueError):
    """Input that cannot be used; the message names what was found and what to do about it.

    The command line prints the message alone. Library users can catch it as a ``ValueError``.
    """


class WriteError(InputError, OSError):
    """A file or folder cannot be written: the disk is full or read-only, or something else is in the way."""


class MissingExtraError(InputError, ImportError):
    """An optional package is not installed; the message names the extra that installs it."""


class BadRowsError(InputError):
    """Rows that cannot be used, where none may be skipped.

    Args:
        found: The sentence that names them. The message adds what to do in Python; the command line has its own words.
    """

    def __init__(self, found: str):
        super().__init__(found)
        self.found = found

    def __str__(self) -> str:
        return f"{self.found} Correct them, or leave them out with on_error='skip'."


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtraError:
    """Returns the error to raise where an optional ``package`` cannot be imported.

    >>> print(missing_extra("RDKit", "molecules", "Reading molecules"))
    Reading molecules needs RDKit: pip install 'ssread[molecules]'.
    """
    return MissingExtraError(f"{purpose} needs {package}: pip install 'ssread[{extra}]'.")


def missing_package(error: ModuleNotFoundError, purpose: str) -> ImportError:
    """Returns the error to raise where importing our own code failed: it names what to install.

    >>> print(missing_package(ModuleNotFoundError(name="sklearn.base"), "ssread.SSReadClassifier"))
    ssread.SSReadClassifier needs sklearn: pip install 'ssread[cli]'.
    """
    package = (error.name or "").split(".")[0]
    return error if package in ("", "ssread") else missing_extra(package, "cli", purpose)
