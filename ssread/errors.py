"""What users are told when their input cannot be used."""


class InputError(ValueError):
    """Wrong input, worded as a sentence that names what was found and what to do about it.

    The command line prints the sentence alone; library users catch it as a ``ValueError``.
    """


class WriteError(InputError, OSError):
    """A file or folder cannot be written: the disk is full, read-only, or something else is in the way."""


class MissingExtraError(InputError, ImportError):
    """A package that only some users need is not installed; the sentence names the extra that brings it."""


def missing_extra(package: str, extra: str, purpose: str) -> MissingExtraError:
    """The error to raise where an optional ``package`` could not be imported.

    >>> print(missing_extra("RDKit", "chem", "Reading molecules"))
    Reading molecules needs RDKit: pip install 'ssread[chem]'.
    """
    return MissingExtraError(f"{purpose} needs {package}: pip install 'ssread[{extra}]'.")
