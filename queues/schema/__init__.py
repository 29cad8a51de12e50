"""JSON Schemas of scripts: check data by them, and say in words what is wrong.

The forms that are made of a schema are at home in the console.
"""
