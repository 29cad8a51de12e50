"""What the pools inside processes report about themselves, and how it is read."""

from pools.reporting.process_report import reporting

__all__ = ["reporting"]
