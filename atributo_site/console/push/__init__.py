"""The form that pushes a job, made from a script's schema; several sections use it."""
