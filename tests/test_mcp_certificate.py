"""What is read of a certificate: names, issuer and times as its DER form has them, and nothing of what is none."""

import ssl
from datetime import UTC, datetime

import pytest
import trustme
from hypothesis import given, settings
from hypothesis import strategies as st

from protocol.mcp.certificate import NAMES_LIMIT, Certificate, read_certificate

AUTHORITY = trustme.CA(organization_name="Desk Authority")


def der(certificate: trustme.LeafCert) -> bytes:
    return ssl.PEM_cert_to_DER_cert(certificate.cert_chain_pems[0].bytes().decode())


LEAF = der(
    AUTHORITY.issue_cert(
        "desk.example.com",
        "*.example.com",
        "127.0.0.1",
        "::1",
        common_name="desk.example.com",
        not_before=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        not_after=datetime(2049, 12, 31, 23, 59, 59, tzinfo=UTC),
    )
)


def test_a_certificate_tells_names_issuer_and_times() -> None:
    assert read_certificate(LEAF) == Certificate(
        subject="desk.example.com",
        issuer="Desk Authority",
        names=("desk.example.com", "*.example.com", "127.0.0.1", "::1"),
        begins="2026-01-02T03:04:05Z",
        ends="2049-12-31T23:59:59Z",
    )


def test_its_facts_have_the_usual_names() -> None:
    found = read_certificate(LEAF)
    assert found is not None
    assert found.facts() == {
        "subject": "desk.example.com",
        "issuer": "Desk Authority",
        "names": ["desk.example.com", "*.example.com", "127.0.0.1", "::1"],
        "notBefore": "2026-01-02T03:04:05Z",
        "notAfter": "2049-12-31T23:59:59Z",
    }


@pytest.mark.parametrize("year", [1950, 1999, 2000, 2049, 2050, 2100, 9999])
def test_years_of_both_forms_of_time_are_read(year: int) -> None:
    ends = datetime(year, 6, 7, 8, 9, 10, tzinfo=UTC)
    begins = datetime(1950, 1, 1, tzinfo=UTC)
    found = read_certificate(der(AUTHORITY.issue_cert("a", not_before=begins, not_after=ends)))
    assert found is not None
    assert (found.begins, found.ends) == ("1950-01-01T00:00:00Z", f"{year}-06-07T08:09:10Z")


def test_an_authority_of_its_own_and_a_certificate_without_names_are_read_too() -> None:
    found = read_certificate(ssl.PEM_cert_to_DER_cert(AUTHORITY.cert_pem.bytes().decode()))
    assert found is not None
    assert (found.subject, found.issuer, found.names) == (None, "Desk Authority", ())


def test_of_very_many_names_some_are_kept() -> None:
    found = read_certificate(der(AUTHORITY.issue_cert(*(f"{number}.example.com" for number in range(80)))))
    assert found is not None
    assert found.names == tuple(f"{number}.example.com" for number in range(NAMES_LIMIT))


@pytest.mark.parametrize("data", [b"", b"\x30", b"\x30\x00", b"\x30\x80", b"\x30\x84\xff\xff\xff\xff", b"x" * 100])
def test_what_is_no_certificate_is_none(data: bytes) -> None:
    assert read_certificate(data) is None


@given(st.integers(0, len(LEAF) - 1))
@settings(deadline=None, max_examples=100)
def test_a_certificate_that_is_cut_is_none(size: int) -> None:
    assert read_certificate(LEAF[:size]) is None


@given(st.lists(st.tuples(st.integers(0, len(LEAF) - 1), st.integers(0, 255)), max_size=8))
@settings(deadline=None, max_examples=300)
def test_no_change_of_a_certificate_breaks_the_reader(changes: list[tuple[int, int]]) -> None:
    data = bytearray(LEAF)
    for at, value in changes:
        data[at] = value
    read_certificate(bytes(data))


@given(st.binary(max_size=200))
@settings(deadline=None, max_examples=200)
def test_no_bytes_break_the_reader(data: bytes) -> None:
    read_certificate(data)
