"""From a connector's configuration to a running spark-submit."""
