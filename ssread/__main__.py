"""``ssread`` and ``python -m ssread``: the command line."""

import signal
import sys

from ssread.errors import missing_package

__all__ = ["main"]


def main() -> None:
    """Runs a command; says what to install where the command line itself is not. Ctrl-C never shows where it was."""
    try:
        try:
            from ssread.cli import app
        except ModuleNotFoundError as error:
            sys.exit(f"Error: {missing_package(error, 'The command line')}")
        app()
    except KeyboardInterrupt:  # before the command began, which answers it by itself
        sys.exit(130)
    finally:  # nor while Python ends
        signal.signal(signal.SIGINT, signal.SIG_IGN)


if __name__ == "__main__":
    main()
