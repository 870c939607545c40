"""Programs that write messages to their output, such as taps: installed, run and read for connectors."""
