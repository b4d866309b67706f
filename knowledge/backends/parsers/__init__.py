"""Reading documents: one parser per format, run in a child process with limits.

``parse_isolated`` is what the pipeline calls; the parsers themselves are loaded in the child only.
"""

from knowledge.backends.parsers.detect import SUPPORTED_FORMATS
from knowledge.backends.parsers.errors import ParseError
from knowledge.backends.parsers.isolation import parse_isolated
from knowledge.backends.parsers.limits import ParseLimits

__all__ = ["SUPPORTED_FORMATS", "ParseError", "ParseLimits", "parse_isolated"]
