"""A run as data: what goes into its job, what comes back, how it has ended. Pure rules and small files."""
