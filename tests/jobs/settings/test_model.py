"""The model of the settings: settings of single levels, immutability, and a key that never shows."""

from typing import Any

import pytest
from pydantic import ValidationError

from jobs.settings.model import Hooks, LevelSettings, Settings
from pipeline.daily.key import DailyKey
from pipeline.deals.levels import LEVELS

KEY = "0123456789abcdef" * 4


def test_the_settings_of_a_level_override_those_for_all_levels() -> None:
    levels = {"hard": LevelSettings(deals_per_night=3), "easy": LevelSettings(deals_cap=9)}
    settings = Settings(deals_cap=7, levels=levels)
    assert {level: (settings.deals_of(level), settings.cap_of(level)) for level in LEVELS} == {
        "easy": (500, 9),
        "medium": (500, 7),
        "hard": (3, 7),
    }


def test_the_key_is_hidden_in_text_and_dumps() -> None:
    settings = Settings(daily_key=DailyKey.fromhex(KEY))
    assert settings.daily_key == bytes.fromhex(KEY)
    for text in (repr(settings), str(settings), str(settings.model_dump()), settings.model_dump_json()):
        assert KEY not in text
        assert repr(bytes.fromhex(KEY)) not in text


def test_settings_cannot_be_changed() -> None:
    settings: Any = Settings(levels={"hard": LevelSettings(deals_cap=3)}, hooks=Hooks(on_run=("a",)))
    with pytest.raises(ValidationError):
        settings.workers = 2
    with pytest.raises(ValidationError):
        settings.hooks.on_run = ()
    with pytest.raises(ValidationError):
        settings.levels["hard"].deals_cap = 4
