"""Mail: mbox files, a message at a time."""

from __future__ import annotations

from collections.abc import Iterator
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from email.utils import getaddresses
from typing import IO

from ...nouns.clock import to_us
from ...nouns.text import clean
from ..html_text import html_text
from .fields import metadata_of, name_of
from .types import MAX_RECORD_BYTES, File, Item, Left, Passage, Taken

_MAX_LINE = 1 << 20
_MAX_MAIL = MAX_RECORD_BYTES
_PARSER = BytesParser(_class=EmailMessage, policy=policy.default.clone(raise_on_defect=False))


def mbox(file: File) -> Iterator[Item]:
    """Read mails (RFC 4155): subject and plain text; attachments are left and told."""
    with file.open() as opened:
        for number, data in enumerate(_split(opened), 1):
            where = f"{file.path}#{number}"
            if data is None:
                yield Left(where, f"a mail longer than {_MAX_MAIL} bytes")
                continue
            try:
                yield from _mail(_PARSER.parsebytes(data), where)
            except (ValueError, LookupError, RecursionError, AttributeError, TypeError) as error:
                yield Left(where, f"a mail that cannot be read ({type(error).__name__})")


def _split(file: IO[bytes]) -> Iterator[bytes | None]:
    """Yield the mails of an mbox; None for one that is too long to be held."""
    held = bytearray()
    inside = long = False
    blank = True
    while line := file.readline(_MAX_LINE):
        if blank and line.startswith(b"From "):
            if inside:
                yield None if long else bytes(held)
            held.clear()
            inside, long = True, False
        elif inside and not long:
            held += line[1:] if line.startswith(b">") and _escaped(line) else line
            if len(held) > _MAX_MAIL:
                held.clear()
                long = True
        blank = line in (b"\n", b"\r\n")
    if inside:
        yield None if long else bytes(held)


def _escaped(line: bytes) -> bool:
    """Tell whether a line is one that began with From, as mboxrd writes it."""
    return line.lstrip(b">").startswith(b"From ")


def _mail(message: EmailMessage, where: str) -> Iterator[Item]:
    own = str(message.get("Message-ID") or "").strip().strip("<>")
    name = name_of("mail", own or where)
    attached = sum(1 for _ in message.iter_attachments()) if message.is_multipart() else 0
    if attached:
        yield Left(name, "an attachment", attached)
    text = _text(message)
    subject = clean(str(message.get("Subject") or "")).strip()
    whole = f"{subject}\n\n{text}".strip() if subject else text
    if not whole:
        yield Left(where, "a mail without text")
        return
    date = message.get("Date")
    moment = getattr(date, "datetime", None)
    at = to_us(moment) if moment is not None else None
    shift = moment.utcoffset() if moment is not None else None
    senders, receivers = _names(message, "From"), _names(message, "To", "Cc")
    note = f"mail from {', '.join(senders) or 'somebody'}"
    if receivers:
        note += f" to {', '.join(receivers[:10])}"
    offset = None if shift is None else round(shift.total_seconds() / 60)
    passage = Passage(whole, at, offset, note[:10_000], tuple(dict.fromkeys(senders))[:50])
    told = {"from": message.get("From"), "to": message.get("To"), "subject": subject}
    metadata = metadata_of({k: str(v) for k, v in told.items() if v})
    yield Taken(name, (passage,), ("mail",), metadata)


def _text(message: EmailMessage) -> str:
    """Return the plain text, or that of the HTML where there is none."""
    for kind in ("plain", "html"):
        part = message.get_body((kind,))
        content = None if part is None else part.get_content()
        if isinstance(content, str):
            text = clean(html_text(content) if kind == "html" else content).strip()
            if text:
                return text
    return ""


def _names(message: EmailMessage, *fields: str) -> list[str]:
    told = [str(value) for name in fields for value in message.get_all(name, [])]
    return [clean(name or address).strip() for name, address in getaddresses(told) if address]
