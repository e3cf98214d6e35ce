"""What every other package may use; nothing here imports another package of ssread."""
