"""The embedded broker and other helpers for development and tests."""
