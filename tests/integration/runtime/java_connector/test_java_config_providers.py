"""Config providers that only Java has: variables of theirs are resolved by the Connect worker of a hosted connector."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.hosting.keys import hosted_group
from tests.support.connect.java_plugins import CONFIG_PROVIDERS, compiled_plugin
from tests.support.kafka import read_all, read_values

SECRET = "tr0ub4dor&3"

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]


@pytest.fixture(scope="module")
def providers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of plug-ins with the provider `kconnect.vault.VaultConfigProvider`."""
    services = {CONFIG_PROVIDERS: "kconnect.vault.VaultConfigProvider"}
    return compiled_plugin(tmp_path_factory.mktemp("vault"), "vault", services)


@pytest.fixture
def vault(providers: Path, plugin_path: Path, tmp_path: Path) -> dict[str, str]:
    """Keys of a worker with the provider `vault`, which has `shop/file`, `shop/secret` and `shop/word`."""
    shop = tmp_path / "vault" / "shop"
    shop.mkdir(parents=True)
    for key, text in {"file": str(tmp_path / "in.txt"), "secret": SECRET, "word": "many"}.items():
        (shop / key).write_text(text)
    return {
        "plugin.path": f"{plugin_path},{providers}",
        "config.providers": "file,vault",
        "config.providers.file.class": "FileConfigProvider",
        "config.providers.vault.class": "kconnect.vault.VaultConfigProvider",
        "config.providers.vault.param.root": str(tmp_path / "vault"),
    }


@pytest.mark.exhaustive
def test_connect_resolves_variables_of_javas_providers_and_no_topic_has_their_values(
    bootstrap: str,
    numbered: Any,
    java_source: Config,
    run_hosted: Run,
    hosting_worker: dict[str, str],
    vault: dict[str, str],
    tmp_path: Path,
) -> None:
    """Next to one that is resolved here, in the same value."""
    numbered.append(20)
    (tmp_path / "own.properties").write_text("user=ann\n")
    login = f"${{file:{tmp_path}/own.properties:user}}:${{vault:shop:secret}}"
    config = java_source(**{"file": "${vault:shop:file}", "some.password": login})
    assert run_hosted(config, **vault).records["written"] == 20
    assert read_values(bootstrap, config["topic"]) == numbered.expected()
    group = hosted_group(config, hosting_worker["group.id"])
    stored = b"".join((record.value or b"") for record in read_all(bootstrap, f"{group}-configs"))
    assert b"}:${vault:shop:secret}" not in stored  # what is around it is a reference, too
    assert b"${vault:shop:secret}" in stored
    assert not [secret for secret in (SECRET, "ann:", str(tmp_path / "in.txt")) if secret.encode() in stored]


@pytest.mark.exhaustive
def test_the_class_validates_the_values_and_a_missing_one_is_an_error(
    java_source: Config, run_hosted: Run, vault: dict[str, str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        run_hosted(java_source(**{"batch.size": "${vault:shop:word}"}), dry_run=True, **vault)
    assert list(caught.value.errors) == ["batch.size"]
    with pytest.raises(ConnectError, match="the vault has no shop/nothing"):
        run_hosted(java_source(**{"file": "${vault:shop:nothing}"}), dry_run=True, **vault)


@pytest.mark.exhaustive
def test_a_provider_whose_class_is_not_installed_is_an_error_of_the_worker(
    java_source: Config, run_hosted: Run, vault: dict[str, str]
) -> None:
    with pytest.raises(ConfigError, match=r"kconnect\.vault\.Nothing"):
        run_hosted(java_source(), **{**vault, "config.providers.vault.class": "kconnect.vault.Nothing"})
