"""What the commands do, as functions that a notebook can call; one file per command."""
