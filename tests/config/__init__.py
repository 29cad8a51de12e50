"""Tests of settings, migrations, backups and what a database user may do."""
