"""One job per file: what a command does, as a function that a notebook can call too."""
