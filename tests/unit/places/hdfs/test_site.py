"""Where name nodes are, by the files of Hadoop."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.places.hdfs.site import endpoints

_SERVICE = {
    "dfs.nameservices": "lake",
    "dfs.ha.namenodes.lake": "nn1, nn2",
    "dfs.namenode.http-address.lake.nn1": "a.example.com:9870",
    "dfs.namenode.http-address.lake.nn2": "b.example.com:9870",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`HADOOP_CONF_DIR`, without files."""
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    return tmp_path


def configure(folder: Path, settings: dict[str, str]) -> None:
    entries = "".join(
        f"<property><name>{name}</name><value>{text}</value></property>" for name, text in settings.items()
    )
    (folder / "hdfs-site.xml").write_text(f"<configuration>{entries}</configuration>")


def test_without_files_the_host_of_the_address_listens_where_hadoop_does() -> None:
    assert endpoints("nn.example.com:8020") == ("http://nn.example.com:9870",)


def test_without_a_folder_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HADOOP_CONF_DIR")
    assert endpoints("nn.example.com") == ("http://nn.example.com:9870",)


def test_a_name_service_has_several(folder: Path) -> None:
    configure(folder, _SERVICE)
    assert endpoints("lake") == ("http://a.example.com:9870", "http://b.example.com:9870")


def test_one_that_says_no_address_listens_where_its_other_port_is(folder: Path) -> None:
    configure(folder, {"dfs.ha.namenodes.lake": "nn1", "dfs.namenode.rpc-address.lake.nn1": "a.example.com:8020"})
    assert endpoints("lake") == ("http://a.example.com:9870",)


def test_a_name_service_without_any_address_is_an_error(folder: Path) -> None:
    configure(folder, {"dfs.ha.namenodes.lake": "nn1,nn2"})
    with pytest.raises(ConfigError, match=r"no address of its name nodes: set `store.endpoint`"):
        endpoints("lake")


def test_with_https_only_that_is_used(folder: Path) -> None:
    secure = {name.replace("http-", "https-"): text.replace("9870", "9999") for name, text in _SERVICE.items()}
    configure(folder, {**secure, "dfs.http.policy": "HTTPS_ONLY"})
    assert endpoints("lake") == ("https://a.example.com:9999", "https://b.example.com:9999")
    assert endpoints("other:8020") == ("https://other:9871",)


def test_the_port_of_another_cluster_is_not_taken(folder: Path) -> None:
    configure(folder, {"dfs.namenode.http-address": "a.example.com:50070"})
    assert endpoints("a.example.com:8020") == ("http://a.example.com:50070",)
    assert endpoints("b.example.com:8020") == ("http://b.example.com:9870",)


def test_a_file_that_is_none_is_named(folder: Path) -> None:
    (folder / "hdfs-site.xml").write_text("<configuration>")
    with pytest.raises(ConfigError, match=r"cannot read .*hdfs-site.xml, which `HADOOP_CONF_DIR` names"):
        endpoints("lake")
