"""Services on disk and in the database: reading, installing, upgrading, trying a script without
effects.
"""
