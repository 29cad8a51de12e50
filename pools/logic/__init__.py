"""Decisions about names, backends and connections; plain values in, plain values out."""
