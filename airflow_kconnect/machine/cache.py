"""The cache folder, for what looks for it among the facts about this machine."""

from airflow_kconnect.connect.cache import CURE, cache_folder, expanded

__all__ = ["CURE", "cache_folder", "expanded"]
