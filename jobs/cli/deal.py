"""`fairway deal show`: draws the table of a deal; needs no kernels, so it starts quickly."""

from typing import Any

from jobs.api.layout import layout
from jobs.api.reading import GivenDeal
from jobs.cli.deal_file import for_deals
from jobs.terminal.context import read_settings
from jobs.terminal.drawing import print_table
from jobs.terminal.options import Config, DealFile, DealTextOrNone, Json, RulesName, Workers
from jobs.terminal.output import say
from solver.table.moves import start
from solver.table.rules import rules_named


def show(
    text: DealTextOrNone = None,
    rules: RulesName = "golf",
    file: DealFile = None,
    workers: Workers = None,
    config: Config = None,
    as_json: Json = False,
) -> None:
    """Draw the table of a deal.

    Example: fairway deal show 1
    """
    row = rules_named(rules)

    def print_layout(given: GivenDeal, _: dict[str, Any]) -> None:
        print_table(start(given.deal), row)
        say(f"\n{given.deal.notation}")

    settings = read_settings(config, workers=workers)
    for_deals(text, file, lambda given: layout(given, row), print_layout, settings.workers, as_json=as_json)
