"""Java plug-ins below `plugin.path`: found by reading jars, without a JVM and without loading a class."""

from airflow_kconnect.plugins.java.index import JavaPlugin, JavaPlugins

__all__ = ["JavaPlugin", "JavaPlugins"]
