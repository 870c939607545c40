"""Confluent's sinks in the stores of tests."""

from __future__ import annotations

from tests.support.stores import Store


def confluent_sink(store: Store) -> dict[str, str]:
    """Class and keys of the one whose store it is."""
    scheme, _, root = store.address.partition("://")
    keys, endpoint = store.settings, {"store.endpoint": store.settings["store.endpoint"]}
    if scheme == "gs":
        return {"connector.class": "io.confluent.connect.gcs.GcsSinkConnector", "gcs.bucket.name": root, **endpoint}
    if scheme == "abfss":
        container, _, host = root.partition("@")
        return {
            "connector.class": "io.confluent.connect.azure.blob.AzureBlobStorageSinkConnector",
            "azblob.container.name": container,
            "azblob.account.name": host.partition(".")[0],
            "azblob.account.key": keys["store.account.key"],
            **endpoint,
        }
    return {
        "connector.class": "io.confluent.connect.s3.S3SinkConnector",
        "s3.bucket.name": root,
        "s3.region": "us-east-1",
        "store.url": keys["store.endpoint"],
        "aws.access.key.id": keys["store.access.key.id"],
        "aws.secret.access.key": keys["store.secret.access.key"],
    }
