"""What users are told when their input cannot be used."""


class InputError(ValueError):
    """Wrong input, worded as a sentence that names what was found and what to do about it.

    The command line prints the sentence alone; library users catch it as a ``ValueError``.
    """
