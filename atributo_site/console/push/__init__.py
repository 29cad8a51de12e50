"""The form that pushes a job, made from a script's schema; the sections share it."""
