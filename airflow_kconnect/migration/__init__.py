"""Moving connectors between a Connect cluster and this package: assessment, handover and return."""
