"""The benchmarks of scripts/x bench: one module per kind, each with a `run(real)` that returns its record."""
