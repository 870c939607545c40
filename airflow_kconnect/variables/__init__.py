"""Variables in configurations, `${provider:path:key}`, and the config providers that resolve them."""
