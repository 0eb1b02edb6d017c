"""Small PDFs for tests: one page a text, made without any library."""

from __future__ import annotations

from pathlib import Path

_WIDTH = 92


def made_pdf(path: Path, pages: list[str]) -> Path:
    """A PDF of these texts, each on a page of its own, in Helvetica."""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * i} 0 R" for i in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
    )
    for i, text in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 "
            f"R >> >> /Contents {5 + 2 * i} 0 R >>".encode()
        )
        lines = []
        top = 780
        for line in _lines(text):
            escaped = line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")
            lines.append(f"BT /F1 11 Tf 60 {top} Td ({escaped}) Tj ET")
            top -= 14
        stream = "\n".join(lines).encode("cp1252")
        head = f"<< /Length {len(stream)} >>\nstream\n".encode()
        objects.append(head + stream + b"\nendstream")
    body = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(body))
        body += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    start = len(body)
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    body += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    body += (
        f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
    )
    path.write_bytes(body)
    return path


def _lines(text: str) -> list[str]:
    made: list[str] = []
    line = ""
    for word in text.split():
        if line and len(line) + len(word) > _WIDTH:
            made.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return [*made, line]
