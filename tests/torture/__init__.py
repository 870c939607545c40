"""Random schedules of faults over every connector, and a count of what arrived: `python -m tests.torture --help`."""
