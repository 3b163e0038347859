"""The benchmarks: `python -m tests.benchmarks`; see README.md beside this file."""
