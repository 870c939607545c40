"""What a connector author implements, and the engine calls: connectors, their tasks, the datasets they name."""
