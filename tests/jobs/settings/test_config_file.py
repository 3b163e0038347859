"""A file of settings: where it is looked for, what is refused, and in which line everything stands."""

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.settings.config_file import MOST_BYTES, ConfigFile, SyntaxFault, find_config, lines_of, parsed
from pipeline.errors import ConfigurationError

TEXT = """\
# a comment
workers = 2

deals_cap = 9  # at the end
[hooks]
on_run = [
    "a",  # [levels]
    "b]",
]
on_failure = ['''
[levels.hard]
deals_cap = 3
''']

[levels]  # a heading
easy = { deals_cap = 5, deals_per_night = 6 }
"hard".deals_cap = 7
[levels.medium]

deals_per_night = 8"""


def test_each_key_and_section_is_found_in_the_line_where_it_begins() -> None:
    assert lines_of(TEXT) == {
        ("workers",): 2,
        ("deals_cap",): 4,
        ("hooks",): 5,
        ("hooks", "on_run"): 6,
        ("hooks", "on_failure"): 10,
        ("levels",): 15,
        ("levels", "easy"): 16,
        ("levels", "easy", "deals_cap"): 16,
        ("levels", "easy", "deals_per_night"): 16,
        ("levels", "hard"): 17,
        ("levels", "hard", "deals_cap"): 17,
        ("levels", "medium"): 18,
        ("levels", "medium", "deals_per_night"): 20,
    }


@given(
    st.dictionaries(
        st.text("abc", min_size=1, max_size=3),
        st.sampled_from(["1", '"""\n[x]\ny = 1\n"""', "[\n1,\n\n2]", "{ k = [\n] }", "'#' # x", "12:30:00"]),
        max_size=5,
    ),
    st.lists(st.sampled_from(["", "# x", "   ", "\t# [x]"]), max_size=3),
)
def test_lines_are_found_whatever_the_values_and_what_lies_between(
    values: dict[str, str], between: list[str]
) -> None:
    lines: list[str] = []
    expected = {}
    for name, value in values.items():
        lines += between
        expected[(name,)] = len(lines) + 1
        lines += f"{name} = {value}".split("\n")
    text = "\n".join(lines)
    assert {key: line for key, line in lines_of(text).items() if len(key) == 1} == expected
    assert tomllib.loads(text).keys() == values.keys()


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("workers = ", 1, 11),
        ("a = 1\nworkers 2\n", 2, 9),
        ("a = 1\na = 2\n", 2, 6),
        ('a = "x', 1, 7),
        ('b = 1\na = """x\ny', 3, 2),
        ("[levels", 1, 8),
        ("a = [1,\n", 1, 8),
        ("\ufeffa = 1", 1, 1),
    ],
)
def test_a_syntax_error_has_its_line_and_column(text: str, line: int, column: int) -> None:
    fault = parsed(text)
    assert isinstance(fault, SyntaxFault)
    assert (fault.line, fault.column) == (line, column)
    assert "(at" not in fault.what


def test_the_file_that_is_named_goes_before_that_of_the_data_root(tmp_path: Path) -> None:
    assert find_config(None, tmp_path) is None
    assert find_config(None, None) is None
    (tmp_path / "fairway.toml").write_bytes(b"workers = 1\r\n")
    (tmp_path / "other").write_text("")
    assert find_config(None, tmp_path) == ConfigFile(tmp_path / "fairway.toml", "workers = 1\n", in_root=True)
    assert find_config(tmp_path / "other", tmp_path) == ConfigFile(tmp_path / "other", "")


def test_a_mark_of_the_byte_order_is_no_part_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "fairway.toml").write_bytes(b"\xef\xbb\xbfworkers = 2\r\n")
    found = find_config(None, tmp_path)
    assert found is not None
    assert found.text == "workers = 2\n"


def test_a_file_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    pipe, large, binary = tmp_path / "pipe", tmp_path / "large", tmp_path / "binary"
    os.mkfifo(pipe)
    large.write_bytes(b"#" * (MOST_BYTES + 1))
    binary.write_bytes(b"a = 1\nb = '\xff'\n")
    for file, words in (
        (tmp_path / "nowhere", "cannot read"),
        (tmp_path, "is no regular file"),
        (pipe, "is no regular file"),
        (large, "more than 65,536 bytes"),
        (binary, "line 2: this is not text in UTF-8"),
    ):
        with pytest.raises(ConfigurationError, match=words) as caught:
            find_config(file, None)
        assert str(file) in str(caught.value)


def test_a_file_of_the_root_that_cannot_be_followed_is_an_error_not_an_absence(tmp_path: Path) -> None:
    (tmp_path / "fairway.toml").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match="cannot read"):
        find_config(None, tmp_path)
