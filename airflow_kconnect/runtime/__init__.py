"""The data plane on Spark: plan, source run, sink run, reader, writer."""
