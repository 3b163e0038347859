"""The nightly job on a schedule of its own (`fairway serve`). May import runs and below."""
