"""Database servers for tests, and what the tests of JDBC have in common."""
