"""Hold the parts of benchmarks that run in a process of their own, or that two of them share."""
