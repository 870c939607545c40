"""Java's stores of certificates and keys as PEM: PKCS12 by the package cryptography, JKS by Java's keytool."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_kconnect.connect.errors import ConfigError, in_one_line

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.serialization.pkcs12 import PKCS12KeyAndCertificates

JKS, PKCS12, PEM = "JKS", "PKCS12", "PEM"
TYPES = (JKS, PKCS12, PEM)

_JKS_MAGIC, _PEM_MAGIC = b"\xfe\xed\xfe\xed", b"-----BEGIN"
_STORE_MAX_BYTES = 16_000_000
_KEYTOOL_S = 120
_ALIAS = re.compile(r"^Alias name: (.*)\n(?:.*\n)??Entry type: PrivateKeyEntry", re.MULTILINE)


@dataclass(frozen=True)
class Store:
    """A file with certificates, and possibly keys.

    :param type: one of `TYPES`. As in Java, stores of the types JKS and PKCS12 may be of either.
    :param key: in errors; such as ``value.converter.schema.registry.ssl.truststore.``, followed by ``location``.
    """

    location: str
    type: str
    key: str
    password: str | None = field(default=None, repr=False)

    def pem(self) -> bytes | None:
        """The content of a PEM file; None if the store is of another type.

        :raises ConfigError: it cannot be read, or is not what its type says.
        """
        data = self._data()
        is_pem = _PEM_MAGIC in data
        if is_pem != (self.type == PEM):
            raise self.error(
                "type", f"{self.location} is {'a' if is_pem else 'not a'} PEM file, the type is {self.type}"
            )
        return data if is_pem else None

    def authorities(self) -> str:
        """The certificates as PEM.

        :raises ConfigError: the store cannot be read, or has no certificate.
        """
        from cryptography.hazmat.primitives.serialization import Encoding

        content = self._content(self.password)
        certificates = [certificate.certificate for certificate in content.additional_certs]
        if content.cert:
            certificates.append(content.cert.certificate)
        if not certificates:
            raise self.error("location", f"{self.location} has no certificate")
        return "".join(certificate.public_bytes(Encoding.PEM).decode() for certificate in certificates)

    def identity(self, key_password: str | None, protect: str) -> bytes:
        """A key and its certificates as PEM.

        :param key_password: that of the key, if it is not that of the store.
        :param protect: the password of the key that is returned.
        :raises ConfigError: the store cannot be read, or has no key.
        """
        from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

        content = self._content(key_password)
        if content.key is None or content.cert is None:
            raise self.error("location", f"{self.location} has no key with a certificate")
        encryption = BestAvailableEncryption(protect.encode())
        key = content.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
        chain = [content.cert, *content.additional_certs]
        return key + b"".join(entry.certificate.public_bytes(Encoding.PEM) for entry in chain)

    def error(self, part: str, problem: str) -> ConfigError:
        """The error of one of the store's keys."""
        return ConfigError({self.key + part: [problem]})

    def _content(self, key_password: str | None) -> PKCS12KeyAndCertificates:
        if find_spec("cryptography") is None:
            raise self.error("type", f"{self.type} needs the Python package `cryptography` where it is read")
        data = self._data()
        if not data.startswith(_JKS_MAGIC):
            return self._parsed(data, self.password)
        with tempfile.TemporaryDirectory(prefix="kconnect-") as folder:
            copy, password = Path(folder, "store.p12"), secrets.token_urlsafe()
            self._convert(copy, password, key_password)
            return self._parsed(copy.read_bytes(), password)

    def _parsed(self, data: bytes, password: str | None) -> PKCS12KeyAndCertificates:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.serialization.pkcs12 import load_pkcs12

        try:
            return load_pkcs12(data, password.encode() if password is not None else None)
        except ValueError as error:
            problem = f"{self.location} cannot be opened: the password is wrong, or it is neither PKCS12 nor JKS"
            raise self.error("password", problem) from error
        except UnsupportedAlgorithm as error:
            raise self.error("location", f"{self.location}: {in_one_line(error)}") from error

    def _data(self) -> bytes:
        path = Path(self.location)
        try:
            if not path.is_file():
                raise self.error("location", f"there is no file {self.location} where the job runs")
            with path.open("rb") as file:
                return file.read(_STORE_MAX_BYTES)
        except OSError as error:
            raise self.error("location", f"{self.location}: {in_one_line(error)}") from error

    def _convert(self, copy: Path, password: str, key_password: str | None) -> None:
        """Write a JKS store as PKCS12; a key of a password of its own must be named."""
        target = ["-destkeystore", str(copy), "-deststoretype", PKCS12, "-deststorepass:env", "KCONNECT_TARGET"]
        source = ["-srckeystore", self.location, "-srcstoretype", JKS]
        given = {"KCONNECT_TARGET": password}
        if self.password is not None:
            source += ["-srcstorepass:env", "KCONNECT_STORE"]
            given["KCONNECT_STORE"] = self.password
        if key_password is not None and key_password != self.password:
            source += ["-srcalias", self._alias(), "-srckeypass:env", "KCONNECT_KEY"]
            given["KCONNECT_KEY"] = key_password
        self._keytool(["-importkeystore", "-noprompt", *source, *target], given)

    def _alias(self) -> str:
        """The name of the store's first key."""
        options = ["-keystore", self.location, "-storetype", JKS, "-storepass:env", "KCONNECT_STORE"]
        match = _ALIAS.search(self._keytool(["-list", "-v", *options], {"KCONNECT_STORE": self.password or ""}))
        if match is None:
            raise self.error("location", f"{self.location} has no key with a certificate")
        return match[1]

    def _keytool(self, arguments: list[str], passwords: Mapping[str, str]) -> str:
        """Passwords are in the environment: everyone on a machine can see command lines."""
        home = os.environ.get("JAVA_HOME")
        program = shutil.which("keytool", path=f"{home}/bin" if home else None)
        if program is None:
            raise self.error("type", f"{JKS} needs Java's keytool: set JAVA_HOME, or convert the store to {PKCS12}")
        command = [program, "-J-Duser.language=en", *arguments]
        env = {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C.UTF-8", **passwords}
        try:
            done = subprocess.run(
                command,
                env=env,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=_KEYTOOL_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise self.error("location", f"{self.location}: keytool failed: {type(error).__name__}") from error
        if done.returncode:
            raise self._refused(done.stdout)
        return done.stdout

    def _refused(self, output: str) -> ConfigError:
        """What keytool says, by the key that is to blame."""
        said = next((line for line in output.splitlines() if line.startswith("keytool error:")), "keytool failed")
        problem = f"{self.location}: {said.removeprefix('keytool error: ').partition(': ')[2] or said}"
        if "password" in said.lower():
            return self.error("password", problem)
        if "Cannot recover key" in said or "Too many failures" in said:
            if self.password is None:
                return self.error("password", f"is needed to read the key of {self.location}")
            key = self.key.removesuffix("keystore.") + "key.password"
            return ConfigError({key: [f"the password of the key in {self.location} is another"]})
        return self.error("location", problem)
