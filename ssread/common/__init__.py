"""Helpers for every package. They import nothing of ssread but its errors."""
