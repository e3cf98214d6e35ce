"""``python -m ssread`` is the command line."""

from ssread.cli import app

if __name__ == "__main__":
    app()
