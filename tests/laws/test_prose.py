"""The check of prose finds errors where prose stands, and passes over what is none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from harper import Dialect, Linter

from tools import prose

MODULE = '''\
"""Forces between sites.

    recieve = acceptor (``teh teh``)
"""


def force(recieve: int) -> None:
    """Return the the force.

    Parameters
    ----------
    recieve
        A stifness [nm], shape (n,).

    Raises
    ------
    ValueErorr
        For an negative force of `the the` ``wrld`` kind (Smyth, J. Chem. Phys. 1, 2, 1999).
    """
    # The argument recieve is a name, an adress is none.
    raise ValueError(f"{recieve!r}.bodys: the name 'boddy' is wrog; choose choose another")
'''
PAGE = """\
# A titel

Text with `codde`, a [link](mispeled.md), $mispeled = 1$ and velocity-verlet steps at g(r) ≥ 2kT.

| quantity | meening |
| --- | --- |
| `mispeled` | it could of been |

```python
mispeled = 1
```

<!-- check
mispeled = 1
-->

$$
\\mispeled
$$
"""
CASE = """\
# A coment.
[case]
cite = ["Das elektrische Feld in Systemen von Punktladungen"]
notes = [
    "The spheres is at at rest at the start.",  # Nott moving.
]
kind = "mispeled-kind"
"""


@pytest.fixture(scope="module")
def checker() -> Linter:
    return prose.checker()


@pytest.mark.parametrize(
    "name, text, expected",
    [
        (
            "module.py",
            MODULE,
            [(8, "the the"), (13, "stifness"), (18, "an"), (20, "adress"), (21, "wrog"), (21, "choose choose")],
        ),
        ("page.md", PAGE, [(1, "titel"), (5, "meening"), (7, "could of")]),
        ("case.toml", CASE, [(1, "coment"), (5, "at at"), (5, "Nott")]),
    ],
)
def test_errors_are_found_where_prose_stands_and_nowhere_else(
    checker: Linter, tmp_path: Path, name: str, text: str, expected: list[tuple[int, str]]
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert [(fault.line, fault.text) for fault in prose.faults(checker, path)] == expected


def test_strings_of_tests_are_input_and_not_prose(checker: Linter, tmp_path: Path) -> None:
    path = tmp_path / "tests" / "module.py"
    path.parent.mkdir()
    path.write_text('assert check("a boddy without any massses at all")  # A coment.\n', encoding="utf-8")
    assert [fault.text for fault in prose.faults(checker, path)] == ["coment"]


def forms(word: str) -> set[str]:
    return {word, f"{word}s", f"{word}'s", word.lower()}


@pytest.mark.slow
def test_words_of_the_field_are_sorted_unknown_to_english_and_used() -> None:
    listed = prose.WORDS.read_text(encoding="utf-8").split()
    assert listed == sorted(set(listed), key=prose.in_order)
    linter = Linter(Dialect.BRITISH)
    linter.set_lint_config({rule: rule == "SpellCheck" for rule in linter.get_default_lint_config()})

    def unknown(words: list[str]) -> set[str]:
        return {lint.problem_text for lint in linter.lint("\n\n".join(words))}

    singly = unknown(listed)
    known = [word for word in listed if word not in singly]
    assert [word for word in known if not forms(word) & unknown(sorted(forms(word)))] == []
    text = "\n".join(path.read_text(encoding="utf-8") for path in prose.files()).lower()
    used = set(re.findall(r"[^\W\d_]+(?:'s)?", text))
    assert [word for word in listed if not {form.lower() for form in forms(word)} & used] == []


def test_a_file_without_faults_is_remembered_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.md"
    page.write_text("A page without faults.\n", encoding="utf-8")
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "REMEMBERED", tmp_path / ".cache" / "prose.json")
    assert prose.main([]) == 0
    monkeypatch.setattr(prose, "checker", lambda: pytest.fail("it was read again"))
    assert prose.main([]) == 0
    monkeypatch.undo()
    monkeypatch.setattr(prose, "ROOT", tmp_path)
    monkeypatch.setattr(prose, "REMEMBERED", tmp_path / ".cache" / "prose.json")
    page.write_text("A page without without faults.\n", encoding="utf-8")
    assert prose.main([]) == 1
    assert capsys.readouterr().out.startswith("page.md:1: 'without without'")
    assert prose.main(["page.md"]) == 0, "a file elsewhere is none of these"
    assert prose.main([str(page)]) == 1
