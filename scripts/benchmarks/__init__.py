"""What scripts/bench runs: a module a kind of benchmark, each with `run(real)` that gives the body of its record."""
