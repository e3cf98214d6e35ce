"""Structural semantic readout for graph classification."""
