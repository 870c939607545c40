"""What the environment says about reaching Maven Central."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.network import ivy_settings, maven_mirror, proxy_options


class TestProxyOptions:
    @pytest.mark.parametrize(
        ("env", "options"),
        [
            ({}, []),
            ({"no_proxy": "a"}, []),
            ({"https_proxy": "http://p:3128"}, ["-Dhttps.proxyHost=p", "-Dhttps.proxyPort=3128"]),
            ({"HTTPS_PROXY": "p:3128"}, ["-Dhttps.proxyHost=p", "-Dhttps.proxyPort=3128"]),
            ({"HTTP_PROXY": "http://p"}, ["-Dhttp.proxyHost=p", "-Dhttp.proxyPort=80"]),
            (
                {"http_proxy": "http://p:1", "NO_PROXY": "localhost, .corp,,"},
                ["-Dhttp.proxyHost=p", "-Dhttp.proxyPort=1", "-Dhttp.nonProxyHosts=localhost|*.corp"],
            ),
            (
                {"https_proxy": "https://ann:p%40ss@p"},
                [
                    *("-Dhttps.proxyHost=p", "-Dhttps.proxyPort=443"),
                    *("-Dhttp.proxyUser=ann", "-Dhttp.proxyPassword=p@ss"),
                    "-Djdk.http.auth.tunneling.disabledSchemes=",
                ],
            ),
        ],
    )
    def test_table(self, env: dict[str, str], options: list[str]) -> None:
        assert proxy_options(env) == options

    @pytest.mark.parametrize("url", ["http://", "http://p:many", "http://p:70000"])
    def test_nonsense_is_refused_without_repeating_it(self, url: str) -> None:
        with pytest.raises(SetupError, match=r"`https_proxy` .* expected http://host:port"):
            proxy_options({"https_proxy": url})


class TestMavenMirror:
    @pytest.mark.parametrize(
        ("of", "counts"), [("central", True), ("*", True), ("external:*,!x", True), ("*,!central", False), ("x", False)]
    )
    def test_which_mirror_counts(self, tmp_path: Path, of: str, counts: bool) -> None:
        settings = tmp_path / "settings.xml"
        mirror = f"<mirror><id>m</id><mirrorOf>{of}</mirrorOf><url> https://m.invalid/maven </url></mirror>"
        settings.write_text(
            f'<settings xmlns="http://maven.apache.org/SETTINGS/1.2.0"><mirrors>{mirror}</mirrors></settings>'
        )
        assert maven_mirror(settings) == ("https://m.invalid/maven" if counts else None)

    def test_no_settings(self, tmp_path: Path) -> None:
        assert maven_mirror(tmp_path / "none.xml") is None

    def test_broken_settings(self, tmp_path: Path) -> None:
        (tmp_path / "settings.xml").write_text("<settings>")
        with pytest.raises(SetupError, match="is not XML"):
            maven_mirror(tmp_path / "settings.xml")


class TestIvySettings:
    def test_named_file(self, tmp_path: Path) -> None:
        (tmp_path / "ivy.xml").touch()
        assert ivy_settings({"KCONNECT_IVY_SETTINGS": str(tmp_path / "ivy.xml")}) == tmp_path / "ivy.xml"

    def test_missing_file(self) -> None:
        with pytest.raises(SetupError, match="names /none, which is not a file"):
            ivy_settings({"KCONNECT_IVY_SETTINGS": "/none"})

    def test_not_set(self) -> None:
        assert ivy_settings({}) is None
