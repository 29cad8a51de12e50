"""Services and scripts, as the process that runs them reads them.

The ORM would write to 2 MB of pages that such a process shares with its parent until then.
"""

SERVICE_AT = """
    SELECT id, name, version, folder, development, definitions, configuration
    FROM queues_service WHERE mount = %(mount)s"""
SCRIPTS_OF = "SELECT name, path, schema FROM queues_script WHERE service_id = %(service)s"
