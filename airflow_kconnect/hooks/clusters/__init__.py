"""Jobs that run outside the worker, on YARN and Kubernetes."""
