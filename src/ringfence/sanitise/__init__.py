"""Text hygiene for both ends: what a stranger wrote is cleaned before a model or a person reads it.

Takes: text, bytes, JSON.  Gives: clean text and findings, framed or made visible.  Never: reads or writes anything else.
"""

from ringfence.sanitise.clean import clean_for_model, clean_output
from ringfence.sanitise.finding import KINDS, Cleaned, Finding, Severity
from ringfence.sanitise.frame import frame, new_boundary
from ringfence.sanitise.scan import HONEST, scan_description
from ringfence.sanitise.structure import JSON, clean_json
from ringfence.sanitise.visible import visible

__all__ = [
    "HONEST",
    "JSON",
    "KINDS",
    "Cleaned",
    "Finding",
    "Severity",
    "clean_for_model",
    "clean_json",
    "clean_output",
    "frame",
    "new_boundary",
    "scan_description",
    "visible",
]
