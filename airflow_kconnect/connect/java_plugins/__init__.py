"""Java plug-ins below `plugin.path`: found by reading jars, without a JVM and without loading a class."""

from airflow_kconnect.connect.java_plugins.index import JavaPlugin, JavaPlugins

__all__ = ["JavaPlugin", "JavaPlugins"]
