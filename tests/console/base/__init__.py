"""Tests of what all sections share: the frame, fields, charts, raw lists."""
