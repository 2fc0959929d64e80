"""The benchmarks of scripts/x bench: one module per kind, each with a `run(options)` that returns its record."""
