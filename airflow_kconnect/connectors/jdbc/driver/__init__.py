"""JDBC drivers and their URLs: what is downloaded, loaded, refused and named."""
