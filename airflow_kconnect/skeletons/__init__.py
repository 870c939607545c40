"""Packages to begin with: `kconnect new`."""
