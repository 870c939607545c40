"""Plug-ins from functions: `@source`, `@sink` and `@transform` make the classes that the engine knows."""
