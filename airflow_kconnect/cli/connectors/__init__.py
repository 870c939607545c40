"""Commands about registered connectors, over Connect's REST API or straight to a worker's topics."""
