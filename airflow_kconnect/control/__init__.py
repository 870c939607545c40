"""The control plane: registered connectors, their states, statuses and offsets, in Connect's topics. No herder runs."""
