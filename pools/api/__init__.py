"""The REST doors of watched names, backends and the look-up tool."""
