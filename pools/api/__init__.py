"""The REST endpoints of watched names, backends and the look-up tool."""
