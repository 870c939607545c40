"""Lets a hosted sink see the records of some ranges of offsets only: Connect itself has no end for what it reads."""
