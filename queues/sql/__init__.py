"""The SQL of this room, where the ORM was measured to cost ten times as much as the database."""
