"""Self-signed certificates, for servers that tests start, and as text to pass around."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization.pkcs12 import serialize_key_and_certificates
from cryptography.x509.oid import NameOID

from airflow_kconnect.local.ports import LOOPBACK


def self_signed(host: str = LOOPBACK) -> tuple[str, str]:
    """A certificate for an address or a host, and its key, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=1))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
    is_address = host[0].isdigit()
    names = x509.SubjectAlternativeName([x509.IPAddress(ip_address(host)) if is_address else x509.DNSName(host)])
    certificate = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode(), private.decode()


@dataclass(frozen=True)
class Chain:
    """A certificate that an authority has signed, which a root has signed. All but the key is PEM."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    authority: x509.Certificate
    root: str


def chain(name: str) -> Chain:
    """A certificate for a client, with an authority between it and the root."""
    root_key, authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(3))
    root = _signed("root", root_key, "root", root_key, authority=True)
    authority = _signed("authority", authority_key, "root", root_key, authority=True)
    certificate = _signed(name, key, "authority", authority_key, authority=False)
    return Chain(key, certificate, authority, root.public_bytes(serialization.Encoding.PEM).decode())


def pkcs12(client: Chain, password: str) -> bytes:
    """A store with the key and its certificates, of the alias `client`."""
    protected = serialization.BestAvailableEncryption(password.encode())
    authorities = [client.authority]
    return serialize_key_and_certificates(b"client", client.key, client.certificate, authorities, protected)


def _signed(
    name: str, key: ec.EllipticCurvePrivateKey, by: str, signer: ec.EllipticCurvePrivateKey, *, authority: bool
) -> x509.Certificate:
    subject, issuer = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)]) for text in (name, by))
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    builder = builder.not_valid_before(now - timedelta(hours=1)).not_valid_after(now + timedelta(days=1))
    basic = x509.BasicConstraints(ca=authority, path_length=None)
    return builder.add_extension(basic, critical=True).sign(signer, hashes.SHA256())
