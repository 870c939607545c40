"""Plug-ins by the classes that configurations name: installed packages, files, and Java's below `plugin.path`."""
