"""The parts of scripts/x years."""
