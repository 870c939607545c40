"""Jobs that run away from the worker, on YARN and Kubernetes."""
