"""The process of a job: its session, phases, progress and end."""
