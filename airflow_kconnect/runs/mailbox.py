"""The files of a run's mailbox: a folder of a store, by which a worker reaches a job whose output stays elsewhere."""

RUN_SPEC = "run.json"
END = "end.jsonl"
"""The events with which the job has ended, in the form of its output."""
