"""The front door: settings, log-in, screens, REST plumbing, supervisor; and in core the kernel
that every room stands on.
"""
