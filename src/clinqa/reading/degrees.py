"""Degrees: ranges, bounds, grades and bracketed grades become one degree mark (LABELLING 2)."""

from __future__ import annotations

import re

from clinqa.reading.vocabulary import MarkedPhrase, Roles

__all__ = ["fold_degrees"]

_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 3}
_RANGE = frozenset({"-", " - ", "/", "to", "or", "through", "and up to", "and"})
_SMALL = re.compile(r"[0-9]")
MORE = {0: 1, 1: 2, 2: 3, 3: 3, -2: -2}


def _degree(
    level: int, start: MarkedPhrase, end: MarkedPhrase, *, trace: bool = False, **extra: object
) -> MarkedPhrase:
    roles = Roles(degree=level, trace=trace)
    return MarkedPhrase(
        "degree", roles, start.start, end.end, start.upper, start.paren, dict(extra)
    )


def fold_degrees(marks: list[MarkedPhrase]) -> list[MarkedPhrase]:
    """The marks with every degree expression folded into one mark of role `degree`."""
    marks = _fold_grades(marks)
    marks = _fold_ranges(marks)
    return _fold_bounds(marks)


def _plus_grade(marks: list[MarkedPhrase], i: int) -> tuple[int, int] | None:
    """A grade such as "2+", "1-2+", "1 to 2+", "1+ to 2+", "[3+]": its level and its end."""
    text = marks[i].text
    if not (text.isdecimal() and len(text) == 1 and 0 <= int(text) <= 4):
        return None
    j, top, plus = i + 1, int(text), False
    if j < len(marks) and marks[j].text == "+":
        plus, j = True, j + 1
    if (
        j + 1 < len(marks)
        and marks[j].text in _RANGE
        and marks[j + 1].text.isdecimal()
        and len(marks[j + 1].text) == 1
        and int(marks[j + 1].text) <= 4
        and j + 2 < len(marks)
        and marks[j + 2].text == "+"
    ):
        if plus and marks[j].text == "/" and marks[j + 1].text == "4":
            return top, j + 3  # "1+/4+": one of four
        return max(top, int(marks[j + 1].text)), j + 3
    return (top, j) if plus else None


def _fold_grades(marks: list[MarkedPhrase]) -> list[MarkedPhrase]:
    out: list[MarkedPhrase] = []
    i = 0
    while i < len(marks):
        mark = marks[i]
        if mark.has("scale"):  # "on a scale of 0 to 4+" grades nothing
            j = i + 1
            while j < len(marks) and (
                marks[j].text.isdecimal() or marks[j].text in ("+", "to", "-", " - ", "/")
            ):
                j += 1
            i = j
            continue
        plus = _plus_grade(marks, i)
        if plus is not None:
            level, end = min(plus[0], 3), plus[1]
            out.append(_degree(level, mark, marks[end - 1], trace=level == 0, grade=True))
            i = end
            continue
        if mark.has("grade") and i + 1 < len(marks):
            j = i + 1
            while j < len(marks) and (
                marks[j].text in ("of", "(", "is", ":") or marks[j].has("be")
            ):
                j += 1
            levels: list[int] = []
            k = j
            while k < len(marks):
                word = marks[k].text
                if word in _ROMAN:
                    levels.append(_ROMAN[word])
                elif word.isdecimal() and len(word) == 1 and 0 <= int(word) <= 4:
                    levels.append(min(int(word), 3))
                else:
                    break
                k += 1
                if k < len(marks) and marks[k].text == "+":
                    k += 1
                if k + 1 < len(marks) and marks[k].text in ("/", "out of", "of", "-", "to", " - "):
                    out_of = marks[k].text in ("/", "out of", "of")
                    following = marks[k + 1].text
                    if out_of and following in ("iv", "4", "iii", "3"):
                        k += 2  # "III/IV": the grade out of four
                        break
                    k += 1
                    continue
                break
            if levels and k > j:
                out.append(_degree(max(levels), mark, marks[k - 1], grade=True))
                i = k
                continue
        out.append(mark)
        i += 1
    return out


def _is_degree(mark: MarkedPhrase) -> bool:
    return mark.roles.degree is not None


def _upper(a: MarkedPhrase, b: MarkedPhrase) -> MarkedPhrase:
    levels = [m.roles.degree for m in (a, b) if m.roles.degree is not None]
    known = [level for level in levels if level >= 0]
    level = max(known) if known else -2
    trace = all(m.roles.trace for m in (a, b))
    roles = Roles(degree=level, trace=trace)
    return MarkedPhrase("degree", roles, a.start, b.end, a.upper, a.paren, {**a.extra, **b.extra})


def _fold_ranges(marks: list[MarkedPhrase]) -> list[MarkedPhrase]:
    out: list[MarkedPhrase] = []
    i = 0
    while i < len(marks):
        mark = marks[i]
        if mark.has("between") and i + 3 < len(marks) and _is_degree(marks[i + 1]):
            if marks[i + 2].text == "and" and _is_degree(marks[i + 3]):
                out.append(_upper(marks[i + 1], marks[i + 3]))
                i += 4
                continue
        if not _is_degree(mark):
            out.append(mark)
            i += 1
            continue
        current, i = mark, i + 1
        while i < len(marks):
            nxt = marks[i]
            if _is_degree(nxt) and (nxt.extra.get("grade") or _trace_pair(current, nxt)):
                current, i = _merge_grade(current, nxt), i + 1
            elif (
                nxt.text in _RANGE
                and nxt.text != "and"
                and i + 1 < len(marks)
                and _is_degree(marks[i + 1])
            ):
                current, i = _upper(current, marks[i + 1]), i + 2
            elif nxt.text in ("to", "-") and i + 1 < len(marks) and marks[i + 1].has("blank"):
                i += 2  # the upper word is lost: the known one stands
                if i < len(marks) and marks[i].text == "+":
                    i += 1
            elif nxt.text in ("(", "["):
                end = _bracket(marks, i)
                if end is None:
                    break
                current.extra["graded"] = True
                i = end
            else:
                break
        out.append(current)
    return out


def _trace_pair(a: MarkedPhrase, b: MarkedPhrase) -> bool:
    return a.roles.trace and b.roles.trace


def _merge_grade(word: MarkedPhrase, grade: MarkedPhrase) -> MarkedPhrase:
    """The word rules; its grade beside it only repeats it ("mild 1+")."""
    return MarkedPhrase(
        "degree", word.roles, word.start, grade.end, word.upper, word.paren, dict(word.extra)
    )


def _bracket(marks: list[MarkedPhrase], i: int) -> int | None:
    """The end of a bracket that holds only a grade or a blanked grade, which repeats the word."""
    depth, j, seen = 0, i, False
    while j < len(marks) and j - i < 9:
        text = marks[j].text
        if text in ("(", "["):
            depth += 1
        elif text in (")", "]"):
            depth -= 1
            if depth == 0:
                return j + 1 if seen else None
        elif _is_degree(marks[j]) or marks[j].has("blank"):
            seen = True
        elif text not in ("+", "-", "to", "/", ",") and not _SMALL.fullmatch(text):
            return None
        j += 1
    return None


def _fold_bounds(marks: list[MarkedPhrase]) -> list[MarkedPhrase]:
    out: list[MarkedPhrase] = []
    i = 0
    while i < len(marks):
        mark = marks[i]
        following = marks[i + 1] if i + 1 < len(marks) else None
        if following is not None and _is_degree(following):
            level = following.roles.degree
            assert level is not None
            if mark.has("at_least") or mark.has("at_most"):
                out.append(
                    _degree(level, mark, following, trace=following.roles.trace, bounded=True)
                )
                i += 2
                continue
            if mark.has("above"):
                up = 1 if following.roles.trace else MORE[level]
                out.append(
                    _degree(up, mark, following, above=level, above_trace=following.roles.trace)
                )
                i += 2
                continue
            if mark.has("below"):
                down = max(level - 1, 0) if level > 0 else level
                out.append(_degree(down, mark, following, trace=down == 0, bounded=True))
                i += 2
                continue
        if _is_degree(mark) and following is not None and following.has("at_most"):
            mark.extra["bounded"] = True  # "mild at most"
            out.append(mark)
            i += 2
            continue
        out.append(mark)
        i += 1
    return out
